import { readJson } from '../../web/read-json.ts';
import { sendJson } from '../../web/serve-app.ts';
import type { Kernel } from './kernel.ts';
import { KERNEL_SPECS } from './kernel-info.ts';
import type { Kernels } from './kernels.ts';
import type { Route } from './routes.ts';
import type { Sessions } from './sessions.ts';

const MAX_BYTES = 65_536;
const KERNEL = /^\/api\/kernels\/([^/]+)$/;
const SESSION = /^\/api\/sessions\/([^/]+)$/;

/** `/api/kernels`, `/api/kernelspecs` and `/api/sessions`. */
export function kernelRoutes(kernels: Kernels, sessions: Sessions, folder: string): Route[] {
  const start = (name: unknown): Kernel => kernels.start(name, folder);
  return [
    {
      method: 'GET',
      pattern: /^\/api\/kernelspecs$/,
      answer: ({ response }) => sendJson(response, 200, KERNEL_SPECS),
    },
    {
      method: 'GET',
      pattern: /^\/api\/kernels$/,
      answer: ({ response }) =>
        sendJson(
          response,
          200,
          kernels.list().map(({ model }) => model),
        ),
    },
    {
      method: 'POST',
      pattern: /^\/api\/kernels$/,
      async answer({ request, response }) {
        const { name } = await readJson(request, MAX_BYTES);
        sendJson(response, 201, start(name).model);
      },
    },
    {
      method: 'GET',
      pattern: KERNEL,
      answer: ({ response, captured: [id = ''] }) => sendJson(response, 200, kernels.get(id).model),
    },
    {
      method: 'DELETE',
      pattern: KERNEL,
      async answer({ response, captured: [id = ''] }) {
        await kernels.shutDown(id);
        response.writeHead(204).end();
      },
    },
    {
      method: 'POST',
      pattern: /^\/api\/kernels\/([^/]+)\/interrupt$/,
      answer({ response, captured: [id = ''] }) {
        kernels.get(id).interrupt();
        response.writeHead(204).end();
      },
    },
    {
      method: 'POST',
      pattern: /^\/api\/kernels\/([^/]+)\/restart$/,
      async answer({ response, captured: [id = ''] }) {
        const kernel = kernels.get(id);
        await kernel.restart();
        sendJson(response, 200, kernel.model);
      },
    },
    {
      method: 'GET',
      pattern: /^\/api\/sessions$/,
      answer: ({ response }) => sendJson(response, 200, sessions.list()),
    },
    {
      method: 'POST',
      pattern: /^\/api\/sessions$/,
      answer: async ({ request, response }) =>
        sendJson(response, 201, sessions.open(await readJson(request, MAX_BYTES), start)),
    },
    {
      method: 'GET',
      pattern: SESSION,
      answer: ({ response, captured: [id = ''] }) => sendJson(response, 200, sessions.get(id)),
    },
    {
      method: 'PATCH',
      pattern: SESSION,
      answer: async ({ request, response, captured: [id = ''] }) =>
        sendJson(response, 200, await sessions.change(id, await readJson(request, MAX_BYTES), start)),
    },
    {
      method: 'DELETE',
      pattern: SESSION,
      async answer({ response, captured: [id = ''] }) {
        await sessions.close(id);
        response.writeHead(204).end();
      },
    },
  ];
}
