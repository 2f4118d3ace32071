import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createGpuaasClient, type GpuaasClient } from '@gpuaas/sdk/client';
import type { components } from '@gpuaas/sdk/contract';
import { unwrap } from '@gpuaas/sdk/problem';
import { listeningPort } from '@gpuaas/contracts/listening-port';
import type { LabLog } from './lab-log.ts';
import { UsageProducer, type UsageRecord } from './usage-producer.ts';

const APP = 'lab-echo';
const REPORT_EVERY_MS = 2000;
const MAX_PROMPT_BYTES = 16_384;

export interface SharedModel {
  url: string;
  /** Reports the usage so far. */
  report(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * A model that many tenants share, as an app of the platform: callers with an API key use it and pay by the
 * token. It only repeats its prompt; identity, metering and reporting are real.
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
  const producer = new UsageProducer({ client, name: APP, journal });
  const report = async (): Promise<void> => {
    for (const refused of await producer.flush()) log.warn({ refused }, 'a usage record was refused');
  };
  const server = createServer((request, response) => {
    void answer(request, baseUrl, producer)
      .catch(() => ({ status: 503, body: { error: 'the platform cannot be reached' } }))
      .then(({ status, body }) => send(response, status, body));
  });
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
  if (items.some(({ app }) => app === APP)) return;
  const prices = [
    { dimension: 'tokens', micros: 20_000, per: 1000 },
    { dimension: 'requests', micros: 1000, per: 1 },
  ] as const;
  for (const { dimension, micros, per } of prices) {
    const body = { app: APP, dimension, price: { currency: 'USD', micros }, per };
    await unwrap(client.POST('/api/v1/admin/app-usage-prices', { body }));
  }
}

interface Answer {
  status: number;
  body: object;
}

async function answer(request: IncomingMessage, baseUrl: string, producer: UsageProducer): Promise<Answer> {
  if (request.method !== 'POST' || request.url !== '/v1/completions') {
    return { status: 404, body: { error: 'ask with POST /v1/completions' } };
  }
  const prompt = promptIn(await readBody(request));
  if (prompt === null) return { status: 400, body: { error: 'the body is JSON with a prompt' } };
  const apiKey = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const asked = await createGpuaasClient({ baseUrl, apiKey }).GET('/api/v1/me', {});
  const place = asked.data && placeOf(asked.data);
  if (!place) return { status: 401, body: { error: 'send the API key of a member of a project' } };
  const text = `You said: ${prompt}`;
  const tokens = countTokens(prompt) + countTokens(text);
  const occurred_at = new Date().toISOString();
  const record = (dimension: UsageRecord['dimension'], quantity: number): UsageRecord => ({
    record_id: randomUUID(),
    ...place,
    app: APP,
    dimension,
    quantity,
    occurred_at,
  });
  await producer.add(record('tokens', tokens), record('requests', 1));
  return { status: 200, body: { text, usage: { tokens } } };
}

function placeOf(
  me: components['schemas']['Me'],
): Pick<UsageRecord, 'organization_id' | 'project_id' | 'user_id'> | null {
  const organization = me.organizations.find(({ projects }) => projects.length > 0);
  if (!organization) return null;
  return {
    organization_id: organization.id,
    project_id: organization.projects[0]!.id,
    ...(me.user ? { user_id: me.user.id } : {}),
  };
}

function countTokens(text: string): number {
  return text.split(/\s+/).filter(Boolean).length;
}

/** Null for a prompt over the limit. */
async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_PROMPT_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function promptIn(body: string | null): string | null {
  try {
    const { prompt }: { prompt?: unknown } = JSON.parse(body ?? '');
    return typeof prompt === 'string' && prompt.trim() !== '' ? prompt : null;
  } catch {
    return null;
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
