import type { components } from '@gpuaas/sdk/contract';
import type { AppName } from '../build/build-app.ts';

type Schemas = components['schemas'];

/** What the catalog shows of an app and how a machine starts it; payload and version are added when it is published. */
export interface DemoManifest extends Omit<
  Schemas['PublishAppManifestVersion'],
  'version' | 'artifact_ref' | 'artifact_format'
> {
  slug: AppName;
  parameters: Schemas['AppParameter'][];
}

const ANYWHERE: Schemas['AppCompatibility'] = {
  requires_capacity_shape: ['gpu_slice', 'baremetal'],
  min_gpu_count: 0,
  requires_exclusive_node: false,
  needs_root: false,
};

/** A web server of one port that is ready when `path` answers. */
function webProfile(port: number, path: string): Schemas['AppRuntimeProfile'] {
  return {
    command: ['node', 'payload'],
    env: [{ name: 'PORT', value: String(port) }],
    ports: [{ name: 'web', port, protocol: 'http' }],
    readiness: { port: 'web', path, timeout_seconds: 120 },
    stop_grace_seconds: 10,
  };
}

/** The apps of the demo catalog. The member runner puts the payload into the member's folder as `payload`. */
export const DEMO_MANIFESTS: readonly DemoManifest[] = [
  {
    slug: 'notebook',
    display_name: 'Notebook',
    description:
      'Notebooks with a JavaScript kernel behind the protocol of Jupyter. Where Jupyter is installed, it starts that instead.',
    kind: 'service',
    compatibility: ANYWHERE,
    runtime_profile: webProfile(8888, '/api'),
    parameters: [
      {
        name: 'engine',
        type: 'string',
        title: 'Server',
        description: 'auto takes the Jupyter of the machine if it has one.',
        default: 'auto',
        choices: ['auto', 'jupyter', 'javascript'],
      },
      {
        name: 'folder',
        type: 'string',
        title: 'Folder',
        description: 'Where notebooks lie, from the home folder.',
        default: 'notebooks',
        max_length: 200,
      },
    ],
  },
  {
    slug: 'tiny-llm',
    display_name: 'Tiny language model',
    description:
      'A small language model that was trained on the documents of this platform, behind the API of OpenAI: models, chat, completions, streams.',
    kind: 'service',
    compatibility: ANYWHERE,
    runtime_profile: webProfile(8001, '/health'),
    parameters: [
      {
        name: 'tokens_per_second',
        type: 'integer',
        title: 'Tokens per second',
        description: 'How fast each answer is written; 0 for as fast as possible.',
        default: '40',
        minimum: 0,
        maximum: 10_000,
      },
      {
        name: 'concurrency',
        type: 'integer',
        title: 'Requests together',
        default: '4',
        minimum: 1,
        maximum: 64,
      },
    ],
  },
  {
    slug: 'hello-web',
    display_name: 'Hello',
    description:
      'A page that shows who the gateway says you are, over HTTP, server-sent events and a WebSocket.',
    kind: 'service',
    compatibility: ANYWHERE,
    runtime_profile: webProfile(8000, '/health'),
    parameters: [],
  },
  {
    slug: 'word-count',
    display_name: 'Word count',
    description: 'A batch job: counts the words of all files below a folder and ends.',
    kind: 'job',
    compatibility: ANYWHERE,
    runtime_profile: {
      command: ['node', 'payload'],
      env: [],
      ports: [],
      readiness: null,
      stop_grace_seconds: 5,
    },
    parameters: [
      {
        name: 'input',
        type: 'string',
        title: 'Input',
        description: 'A file or a folder of the machine.',
        default: '/usr/share/common-licenses',
        max_length: 1000,
      },
      {
        name: 'output',
        type: 'string',
        title: 'Output file',
        description: 'Where the result goes as JSON; without it, to the log.',
        max_length: 1000,
      },
      { name: 'top', type: 'integer', title: 'Words to show', default: '20', minimum: 1, maximum: 10_000 },
    ],
  },
];
