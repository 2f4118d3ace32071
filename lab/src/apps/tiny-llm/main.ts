import type { IncomingMessage, ServerResponse } from 'node:http';
import { FILES } from 'app:files';
import { AppRefusal } from '../web/app-refusal.ts';
import { readJson } from '../web/read-json.ts';
import { sendJson, serveApp } from '../web/serve-app.ts';
import { LanguageModel } from './model/language-model.ts';
import { readModel } from './model/model-file.ts';
import { answerText } from './openai/answer-text.ts';
import { checkKey } from './openai/check-key.ts';
import { describeError } from './openai/describe-error.ts';
import { MODEL, readChatRequest, readCompletionRequest } from './openai/read-request.ts';
import { readSettings } from './settings.ts';
import { Tokenizer } from './tokenizer/tokenizer.ts';
import { Turns } from './turns.ts';

const DEFAULT_PORT = 8001;
const MAX_BODY_BYTES = 262_144;

const settings = readSettings(process.env);
const trained = readModel(Buffer.from(FILES['data/model.bin'] ?? '', 'base64'));
const tokenizer = new Tokenizer(trained.merges);
const engine = {
  model: new LanguageModel(trained, tokenizer.size),
  tokenizer,
  tokensPerSecond: settings.tokensPerSecond,
};
const turns = new Turns({ atOnce: settings.concurrency, mayWait: settings.queue });
const described = { id: MODEL, object: 'model', created: 0, owned_by: 'gpuaas' };

async function answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
  if (path === '/health') return sendJson(response, 200, { status: 'ok' });
  checkKey(request, settings.apiKey);
  if (path === '/v1/models') {
    requireMethod(request, 'GET');
    return sendJson(response, 200, { object: 'list', data: [described] });
  }
  if (path.startsWith('/v1/models/')) {
    requireMethod(request, 'GET');
    if (path === `/v1/models/${MODEL}`) return sendJson(response, 200, described);
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
    answerText(engine, chat ? 'chat' : 'completion', asked, response, gone.signal),
  );
}

function requireMethod(request: IncomingMessage, method: string): void {
  if (request.method !== method)
    throw new AppRefusal(405, 'method_not_allowed', `Only ${method} is allowed here.`);
}

await serveApp(
  {
    name: MODEL,
    answer: (request, response, { pathname }) => answer(request, response, pathname),
    describe: describeError,
  },
  DEFAULT_PORT,
);
