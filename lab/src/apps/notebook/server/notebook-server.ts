import type { IncomingMessage } from 'node:http';
import { AppRefusal } from '../../web/app-refusal.ts';
import { sendPageFile } from '../../web/page-files.ts';
import { isSameOrigin } from '../../web/same-origin.ts';
import { isSameSecret } from '../../web/same-secret.ts';
import { refuseUpgrade, sendJson, type WebApp } from '../../web/serve-app.ts';
import type { NotebookSettings } from '../notebook-settings.ts';
import { closeChannels, openChannels } from './channels.ts';
import { contentsRoutes } from './contents-routes.ts';
import { kernelRoutes } from './kernel-routes.ts';
import { Kernels } from './kernels.ts';
import { answerRoute, type Route } from './routes.ts';
import { Sessions } from './sessions.ts';

const CHANNELS = /^\/api\/kernels\/([0-9a-f-]{36})\/channels$/;
const VERSION = '2.14.0';

/** Jupyter's REST and WebSocket API, and a page for it, with a JavaScript kernel. */
export function notebookServer(settings: NotebookSettings): WebApp {
  const started = new Date();
  const kernels = new Kernels();
  const routes = [
    ...statusRoutes(kernels, started),
    ...kernelRoutes(kernels, new Sessions(kernels), settings.folder),
    ...contentsRoutes(settings.folder),
  ];
  return {
    name: 'notebook',
    async answer(request, response, url) {
      const path = below(settings.basePath, url.pathname);
      if (path === null) throw new AppRefusal(404, 'not_found', 'There is no such address.');
      // Readiness is asked without a token, as at Jupyter.
      if (path === '/api') return sendJson(response, 200, { version: VERSION });
      if (request.method === 'GET' && sendPageFile(response, path.slice(1) || 'index.html')) return;
      requireToken(settings, request, url);
      if (request.method !== 'GET' && !isSameOrigin(request))
        throw new AppRefusal(403, 'cross_origin', 'A page of another origin sent this request.');
      await answerRoute(routes, request, response, path, url.searchParams);
    },
    upgrade(request, socket, head, url) {
      const id = CHANNELS.exec(below(settings.basePath, url.pathname) ?? '')?.[1];
      const kernel = id === undefined ? null : kernels.find(id);
      if (!hasToken(settings, request, url) || !isSameOrigin(request))
        return refuseUpgrade(socket, 403, 'Forbidden');
      if (!kernel) return refuseUpgrade(socket, 404, 'Not Found');
      openChannels(kernel, request, socket, head, url.searchParams.get('session_id') ?? '');
    },
    describe: ({ message, code }) => ({ message, reason: code }),
    async stop() {
      closeChannels();
      await kernels.shutDownAll();
    },
  };
}

function statusRoutes(kernels: Kernels, started: Date): Route[] {
  return [
    {
      method: 'GET',
      pattern: /^\/api\/status$/,
      answer({ response }) {
        const running = kernels.list();
        const last = Math.max(
          started.getTime(),
          ...running.map(({ lastActivity }) => lastActivity.getTime()),
        );
        sendJson(response, 200, {
          started: started.toISOString(),
          last_activity: new Date(last).toISOString(),
          connections: running.reduce((sum, { model }) => sum + model.connections, 0),
          kernels: running.length,
        });
      },
    },
    {
      method: 'GET',
      pattern: /^\/api\/me$/,
      answer({ request, response }) {
        const username = String(request.headers['x-gpuaas-user'] ?? 'anonymous');
        const identity = { username, name: username, display_name: username, initials: null, color: null };
        sendJson(response, 200, { identity: { ...identity, avatar_url: null }, permissions: {} });
      },
    },
  ];
}

function requireToken(settings: NotebookSettings, request: IncomingMessage, url: URL): void {
  if (!hasToken(settings, request, url))
    throw new AppRefusal(403, 'forbidden', 'The token is missing or wrong.');
}

function hasToken({ token }: NotebookSettings, { headers }: IncomingMessage, url: URL): boolean {
  if (token === null) return true;
  const sent = /^(?:token|Bearer) (.+)$/i.exec(headers.authorization ?? '')?.[1];
  return isSameSecret(sent ?? url.searchParams.get('token') ?? '', token);
}

/** The path below the base path, from its slash on. */
function below(basePath: string, path: string): string | null {
  if (basePath === '/') return path;
  if (`${path}/` === basePath) return '/';
  return path.startsWith(basePath) ? path.slice(basePath.length - 1) : null;
}
