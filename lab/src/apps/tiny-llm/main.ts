import { FILES } from 'app:files';
import { serveApp } from '../web/serve-app.ts';
import { openEngine } from './open-engine.ts';
import { checkKey } from './openai/check-key.ts';
import { describeError } from './openai/describe-error.ts';
import { MODEL } from './openai/read-request.ts';
import { answerTextApi } from './openai/text-api.ts';
import { readSettings } from './settings.ts';
import { Turns } from './turns.ts';

const DEFAULT_PORT = 8001;

const settings = readSettings(process.env);
const api = {
  engine: openEngine(Buffer.from(FILES['data/model.bin'] ?? '', 'base64'), settings.tokensPerSecond),
  turns: new Turns({ atOnce: settings.concurrency, mayWait: settings.queue }),
  // The gateway counts requests; tokens of an app in a machine are only its own word.
  async admit(request: Parameters<typeof checkKey>[0]) {
    checkKey(request, settings.apiKey);
    return () => Promise.resolve();
  },
};

await serveApp(
  {
    name: MODEL,
    answer: (request, response, { pathname }) => answerTextApi(api, request, response, pathname),
    describe: describeError,
  },
  DEFAULT_PORT,
);
