import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createLogger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { unwrap } from '@gpuaas/sdk/problem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launch, launchBody, release, waitForState } from '../../harness/allocations/allocations.ts';
import { everyRow } from '../../harness/every-row.ts';
import { eventually } from '../../harness/eventually.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';
import { mintTerminalToken, TestTerminal } from '../../harness/access/terminal.ts';
import { startTraceCollector, type TraceCollector } from '../../harness/servers/trace-collector.ts';

/**
 * API, node API and gateway here, a worker in a separate process, agents in theirs: all outputs are captured.
 */
const printed = { platform: '', worker: '' };
const problems: string[] = [];
const delivered: string[] = [];

let platform: TestPlatform;
let collector: TraceCollector;
const endpoint = createServer((request, response) => {
  delivered.push(String(request.headers['webhook-id']));
  // Every other attempt fails and is tried again.
  response.writeHead(delivered.length % 2 === 1 ? 500 : 204).end();
});

beforeAll(async () => {
  collector = await startTraceCollector();
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.endpoint;
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));
  const log = createLogger('platform', { write: (line: string) => void (printed.platform += line) });
  log.level = 'trace';
  platform = await startTestPlatform({
    runWorker: false,
    log,
    agentEnv: { GPUAAS_LOG_LEVEL: 'trace' },
  });
  const { db, policies } = platform.services;
  await db
    .insertInto('policy_values')
    .values({ key: 'webhooks.allow_private_targets', value: 'true' })
    .execute();
  await policies.refresh();
  platform.spawnWorker({ GPUAAS_LOG_LEVEL: 'trace' }, (text) => void (printed.worker += text));
});
afterAll(async () => {
  await platform?.stop();
  await collector?.close();
  endpoint.closeAllConnections();
  endpoint.close();
  delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
});

async function agentLogs(): Promise<string> {
  const hosts = join(platform.dataDir, 'hosts');
  const names = await readdir(hosts);
  return (await Promise.all(names.map((name) => readFile(join(hosts, name, 'agent.log'), 'utf8')))).join('');
}

describe('the id of a launch', () => {
  it('is in the answer, every log, the spans, the audit row, the events, the task and the refusal', async () => {
    const { member, projectId, services } = platform;
    const id = crypto.randomUUID();
    const headers = { 'x-correlation-id': id };
    const { data, response } = await member.POST('/api/v1/allocations', {
      body: launchBody(projectId, 1),
      headers,
    });
    expect(response.headers.get('x-correlation-id')).toBe(id);
    await waitForState(member, data!.id, 'active');
    const refused = await member.POST('/api/v1/allocations', {
      body: { ...launchBody(projectId, 1), sku: 'no-such-sku' },
      headers,
    });
    expect(refused.error).toMatchObject({ code: 'sku_unknown', correlation_id: id });

    const lines = { ...printed, agent: await agentLogs() };
    for (const [name, text] of Object.entries(lines)) expect(text, `log of ${name}`).toContain(id);

    const { db } = services;
    const rows = {
      audit: await db
        .selectFrom('audit_logs')
        .select(['correlation_id', 'result'])
        .where('action', '=', 'allocation.create')
        .execute(),
      events: await db
        .selectFrom('outbox_events')
        .select('correlation_id')
        .where('subject_id', '=', data!.id)
        .execute(),
      tasks: await db
        .selectFrom('node_tasks')
        .select('correlation_id')
        .where('allocation_id', '=', data!.id)
        .execute(),
    };
    expect(rows.audit.map(({ result }) => result).toSorted()).toEqual(['refused', 'succeeded']);
    for (const [name, found] of Object.entries(rows)) {
      expect(found.length, name).toBeGreaterThan(0);
      expect(new Set(found.map((row) => row.correlation_id)), name).toEqual(new Set([id]));
    }

    const wanted = ['POST /api/v1/allocations', 'node task slice.vm_provision', 'step '];
    await eventually('spans of the API, the worker and the task', async () => {
      const names = collector
        .spans()
        .filter(({ traceId }) => traceId === id.replaceAll('-', ''))
        .map(({ name }) => name);
      return wanted.every((start) => names.some((name) => name.startsWith(start))) ? names : null;
    });
    await release(member, data!.id);
    await waitForState(member, data!.id, 'released');
  });
});

describe('the secrets of a working platform', () => {
  const secrets = new Map<string, string>();
  const keep = (name: string, secret: string | null | undefined): void => {
    if (!secret || secret.length < 12) throw new Error(`${name} is no secret: ${secret}`);
    secrets.set(name, secret);
  };

  it('are used everywhere: keys, tokens, webhooks, terminals, enrolments, files', async () => {
    const { admin, member, operator, projectId, keys, dataDir, baseUrl } = platform;
    for (const [name, key] of Object.entries(keys)) keep(`api key of ${name}`, key);
    const { port } = endpoint.address() as AddressInfo;
    const body = { project_id: projectId, url: `http://127.0.0.1:${port}/hook` };
    const webhook = await unwrap(admin.POST('/api/v1/webhooks', { body }));
    keep('webhook secret', webhook.secret);
    const path = { webhook_id: webhook.webhook.id };
    const rotated = await unwrap(
      admin.POST('/api/v1/webhooks/{webhook_id}/rotate-secret', { params: { path } }),
    );
    keep('rotated webhook secret', rotated.secret);
    const enrolment = { hostname: 'never-comes', region: 'uae-north-1' };
    keep(
      'enrolment token',
      (await unwrap(operator.POST('/api/v1/admin/node-enrolments', { body: enrolment }))).token,
    );

    const allocation = await launch(member, projectId, 1);
    await waitForState(member, allocation.id, 'active');
    const { token, websocket_path } = await mintTerminalToken(member, allocation.id);
    keep('terminal token', token);
    const terminal = new TestTerminal(baseUrl, websocket_path, token);
    await terminal.ready;
    keep('typed password', 'typed-hunter2-in-the-shell');
    terminal.type('echo typed-hunter2-in-the-shell\n');
    await eventually('output', async () => (terminal.output.includes('hunter2') ? true : null));
    terminal.close();
    await terminal.ended;
    // A token is good once.
    expect((await new TestTerminal(baseUrl, websocket_path, token).ended).code).not.toBe(1000);
    await eventually('a delivery that was tried twice', async () =>
      delivered.some((id, index) => delivered.indexOf(id) < index) ? true : null,
    );
    await release(member, allocation.id);
    await waitForState(member, allocation.id, 'released');

    keep('platform key', (await readFile(join(dataDir, 'platform.key'))).toString('base64').slice(0, 40));
    keep('client secret', await readFile(join(dataDir, 'dev-idp-client.secret'), 'utf8'));
    for (const file of await privateKeyFiles(dataDir)) {
      const pem = /-----BEGIN [A-Z ]*PRIVATE KEY-----\\?n?\s*([A-Za-z0-9+/]{20,})/.exec(file.text);
      if (pem) keep(`private key in ${file.name}`, pem[1]);
    }
    expect([...secrets.keys()].filter((name) => name.startsWith('private key')).length).toBeGreaterThan(0);
    for (const [name, secret] of secrets) {
      for (const url of [`/api/v1/me?q=${encodeURIComponent(secret)}`, `/${encodeURIComponent(secret)}`]) {
        const answer = await fetch(baseUrl + url, { headers: { authorization: `Bearer ${secret}` } });
        expect(answer.status, name).toBeGreaterThanOrEqual(400);
        problems.push(JSON.stringify([...answer.headers]) + (await answer.text()));
      }
    }
  });

  it('reach no log of any process, no span, problem, metric or row', async () => {
    await platform.fleet.stop();
    const emitted: Record<string, string> = {
      ...(await everyRow(platform.services.db)),
      'log of the platform': printed.platform,
      'log of the worker': printed.worker,
      'logs of the agents': await agentLogs(),
      spans: collector.text(),
      problems: problems.join('\n'),
      metrics: await (await fetch(`${platform.baseUrl}/metrics`)).text(),
    };
    for (const name of ['log of the platform', 'log of the worker', 'logs of the agents', 'spans'])
      expect(emitted[name]!.length, name).toBeGreaterThan(500);
    const leaks = [...secrets].flatMap(([name, secret]) =>
      Object.entries(emitted)
        .filter(([, text]) => text.includes(secret))
        .map(([place, text]) => `${name} in ${place}: ${around(text, secret)}`),
    );
    expect(leaks).toEqual([]);
  });
});

function around(text: string, secret: string): string {
  const at = text.indexOf(secret);
  return text.slice(Math.max(0, at - 200), at + secret.length + 20);
}

async function privateKeyFiles(folder: string): Promise<{ name: string; text: string }[]> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile() && !entry.name.endsWith('.log'));
  const read = files.map(async ({ parentPath, name }) => ({
    name: join(parentPath, name).slice(folder.length + 1),
    text: await readFile(join(parentPath, name), 'utf8').catch(() => ''),
  }));
  return (await Promise.all(read)).filter(({ text }) => text.includes('PRIVATE KEY'));
}
