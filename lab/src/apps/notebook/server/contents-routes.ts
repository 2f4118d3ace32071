import { readJson } from '../../web/read-json.ts';
import { sendJson } from '../../web/serve-app.ts';
import { Checkpoints } from '../contents/checkpoints.ts';
import { Contents } from '../contents/contents.ts';
import type { Route } from './routes.ts';

const MAX_FILE_BYTES = 50_331_648;
const MAX_FIELDS_BYTES = 65_536;
const FILE = /^\/api\/contents(?:\/(.*))?$/;
const CHECKPOINTS = /^\/api\/contents\/(.+)\/checkpoints$/;
const CHECKPOINT = /^\/api\/contents\/(.+)\/checkpoints\/([^/]+)$/;

/** `/api/contents`. */
export function contentsRoutes(root: string): Route[] {
  const contents = new Contents(root);
  const checkpoints = new Checkpoints(root);
  return [
    {
      method: 'GET',
      pattern: CHECKPOINTS,
      answer: async ({ response, captured: [path = ''] }) =>
        sendJson(response, 200, await checkpoints.list(path)),
    },
    {
      method: 'POST',
      pattern: CHECKPOINTS,
      answer: async ({ response, captured: [path = ''] }) =>
        sendJson(response, 201, await checkpoints.create(path)),
    },
    {
      method: 'POST',
      pattern: CHECKPOINT,
      async answer({ response, captured: [path = '', id = ''] }) {
        await checkpoints.restore(path, id);
        response.writeHead(204).end();
      },
    },
    {
      method: 'DELETE',
      pattern: CHECKPOINT,
      async answer({ response, captured: [path = '', id = ''] }) {
        await checkpoints.remove(path, id);
        response.writeHead(204).end();
      },
    },
    {
      method: 'GET',
      pattern: FILE,
      answer: async ({ response, captured: [path = ''], query }) =>
        sendJson(response, 200, await contents.read(path, query)),
    },
    {
      method: 'PUT',
      pattern: FILE,
      async answer({ request, response, captured: [path = ''] }) {
        const { model, isNew } = await contents.save(path, await readJson(request, MAX_FILE_BYTES));
        sendJson(response, isNew ? 201 : 200, model);
      },
    },
    {
      method: 'POST',
      pattern: FILE,
      answer: async ({ request, response, captured: [path = ''] }) =>
        sendJson(response, 201, await contents.create(path, await readJson(request, MAX_FIELDS_BYTES))),
    },
    {
      method: 'PATCH',
      pattern: FILE,
      async answer({ request, response, captured: [path = ''] }) {
        const fields = await readJson(request, MAX_FIELDS_BYTES);
        sendJson(response, 200, await contents.rename(path, fields['path']));
      },
    },
    {
      method: 'DELETE',
      pattern: FILE,
      async answer({ response, captured: [path = ''] }) {
        await contents.remove(path);
        response.writeHead(204).end();
      },
    },
  ];
}
