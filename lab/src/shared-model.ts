import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { listeningPort } from '@gpuaas/contracts/listening-port';
import { createGpuaasClient, type GpuaasClient } from '@gpuaas/sdk/client';
import type { components } from '@gpuaas/sdk/contract';
import { unwrap } from '@gpuaas/sdk/problem';
import { openEngine } from './apps/tiny-llm/open-engine.ts';
import type { RecordUsage } from './apps/tiny-llm/openai/answer-text.ts';
import { describeError } from './apps/tiny-llm/openai/describe-error.ts';
import { MODEL } from './apps/tiny-llm/openai/read-request.ts';
import { answerTextApi } from './apps/tiny-llm/openai/text-api.ts';
import { Turns } from './apps/tiny-llm/turns.ts';
import { AppRefusal } from './apps/web/app-refusal.ts';
import { answerRequest } from './apps/web/serve-app.ts';
import type { LabLog } from './lab-log.ts';
import { UsageProducer, type UsageRecord } from './usage-producer.ts';

const REPORT_EVERY_MS = 2000;
const WEIGHTS = new URL('./apps/tiny-llm/data/model.bin', import.meta.url);

export interface SharedModel {
  url: string;
  /** Reports the usage so far. */
  report(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * The tiny language model as an app that the platform runs for many tenants: callers with an API key use it over OpenAI's
 * API and pay by the token. In a machine of a tenant the same model is an app whose tokens nobody is charged for.
 */
export async function startSharedModel(options: {
  /** Client with `app_usage.report` and `price.manage`. */
  client: GpuaasClient;
  baseUrl: string;
  journal: string;
  log: LabLog;
}): Promise<SharedModel> {
  const { client, baseUrl, journal, log } = options;
  await priceOnce(client);
  const producer = new UsageProducer({ client, name: MODEL, journal });
  const report = async (): Promise<void> => {
    for (const refused of await producer.flush()) log.warn({ refused }, 'a usage record was refused');
  };
  const api = {
    engine: openEngine(await readFile(WEIGHTS), null),
    turns: new Turns({ atOnce: 4, mayWait: 32 }),
    admit: (request: IncomingMessage) => admitCaller(request, baseUrl, producer),
  };
  const app = {
    answer: (request: IncomingMessage, response: Parameters<typeof answerTextApi>[2], { pathname }: URL) =>
      answerTextApi(api, request, response, pathname),
    describe: describeError,
  };
  const server = createServer((request, response) => void answerRequest(app, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const timer = setInterval(() => {
    report().catch((error: unknown) => log.warn({ error: String(error) }, 'usage waits in the journal'));
  }, REPORT_EVERY_MS);
  return {
    url: `http://127.0.0.1:${listeningPort(server)}`,
    report,
    async stop() {
      clearInterval(timer);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function priceOnce(client: GpuaasClient): Promise<void> {
  const { items } = await unwrap(client.GET('/api/v1/admin/app-usage-prices', {}));
  if (items.some(({ app }) => app === MODEL)) return;
  const prices = [
    { dimension: 'tokens', micros: 20_000, per: 1000 },
    { dimension: 'requests', micros: 1000, per: 1 },
  ] as const;
  for (const { dimension, micros, per } of prices) {
    const body = { app: MODEL, dimension, price: { currency: 'USD', micros }, per };
    await unwrap(client.POST('/api/v1/admin/app-usage-prices', { body }));
  }
}

/** Usage is in the journal before the caller has the whole answer. */
async function admitCaller(
  request: IncomingMessage,
  baseUrl: string,
  producer: UsageProducer,
): Promise<RecordUsage> {
  const apiKey = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const asked = await createGpuaasClient({ baseUrl, apiKey })
    .GET('/api/v1/me', {})
    .catch(() => {
      throw new AppRefusal(503, 'platform_unreachable', 'The platform cannot be reached.');
    });
  const place = asked.data && placeOf(asked.data);
  if (!place) throw new AppRefusal(401, 'invalid_api_key', 'Send the API key of a member of a project.');
  return async ({ total_tokens }) => {
    const occurred_at = new Date().toISOString();
    const record = (dimension: UsageRecord['dimension'], quantity: number): UsageRecord => ({
      record_id: randomUUID(),
      ...place,
      app: MODEL,
      dimension,
      quantity,
      occurred_at,
    });
    const tokens = total_tokens > 0 ? [record('tokens', total_tokens)] : [];
    await producer.add(...tokens, record('requests', 1));
  };
}

function placeOf(
  me: components['schemas']['Me'],
): Pick<UsageRecord, 'organization_id' | 'project_id' | 'user_id'> | null {
  const organization = me.organizations.find(({ projects }) => projects.length > 0);
  const project = organization?.projects[0];
  if (!organization || !project) return null;
  return {
    organization_id: organization.id,
    project_id: project.id,
    ...(me.user ? { user_id: me.user.id } : {}),
  };
}
