import { PROTOCOL_VERSION } from '../wire/kernel-message.ts';

export const KERNEL_NAME = 'javascript';

export const KERNEL_INFO = {
  status: 'ok',
  protocol_version: PROTOCOL_VERSION,
  implementation: 'gpuaas-javascript',
  implementation_version: '1.0.0',
  language_info: {
    name: 'javascript',
    version: process.versions.node,
    mimetype: 'text/javascript',
    file_extension: '.js',
    pygments_lexer: 'javascript',
    codemirror_mode: 'javascript',
  },
  banner: `JavaScript (Node ${process.versions.node})`,
  help_links: [],
};

/** `GET /api/kernelspecs`. */
export const KERNEL_SPECS = {
  default: KERNEL_NAME,
  kernelspecs: {
    [KERNEL_NAME]: {
      name: KERNEL_NAME,
      spec: {
        argv: [],
        display_name: 'JavaScript (Node)',
        language: 'javascript',
        interrupt_mode: 'message',
        env: {},
        metadata: {},
      },
      resources: {},
    },
  },
};
