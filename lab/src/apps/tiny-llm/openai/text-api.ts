import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppRefusal } from '../../web/app-refusal.ts';
import { readJson } from '../../web/read-json.ts';
import { sendJson } from '../../web/serve-app.ts';
import type { Turns } from '../turns.ts';
import { answerText, type Engine, type RecordUsage } from './answer-text.ts';
import { MODEL, readChatRequest, readCompletionRequest } from './read-request.ts';

const MAX_BODY_BYTES = 262_144;
const DESCRIBED = { id: MODEL, object: 'model', created: 0, owned_by: 'gpuaas' };

export interface TextApi {
  engine: Engine;
  turns: Turns;
  /** Refuses the caller, or says where usage is recorded before the answer is complete. */
  admit(request: IncomingMessage): Promise<RecordUsage>;
}

/** OpenAI's API, as far as a model that writes text has it. */
export async function answerTextApi(
  { engine, turns, admit }: TextApi,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
): Promise<void> {
  if (path === '/health') return sendJson(response, 200, { status: 'ok' });
  const record = await admit(request);
  if (path === '/v1/models' || path.startsWith('/v1/models/')) {
    requireMethod(request, 'GET');
    if (path === '/v1/models') return sendJson(response, 200, { object: 'list', data: [DESCRIBED] });
    if (path === `/v1/models/${MODEL}`) return sendJson(response, 200, DESCRIBED);
    throw new AppRefusal(404, 'model_not_found', 'This model does not exist.', 'model');
  }
  if (path !== '/v1/chat/completions' && path !== '/v1/completions')
    throw new AppRefusal(404, 'unknown_url', `Invalid URL (${request.method} ${path.slice(0, 200)})`);
  requireMethod(request, 'POST');
  const chat = path === '/v1/chat/completions';
  const fields = await readJson(request, MAX_BODY_BYTES);
  const asked = chat ? readChatRequest(fields) : readCompletionRequest(fields);
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  await turns.run(gone.signal, () =>
    answerText(
      { engine, endpoint: chat ? 'chat' : 'completion', record, signal: gone.signal },
      asked,
      response,
    ),
  );
}

function requireMethod(request: IncomingMessage, method: string): void {
  if (request.method !== method)
    throw new AppRefusal(405, 'method_not_allowed', `Only ${method} is allowed here.`);
}
