/**
 * How much of a bare fastify handler's rate the platform's HTTP path keeps: authenticated read and idempotent
 * write, beside handlers that run the same SQL in the same process, in alternating rounds.
 */
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { setup } from '../setup/global-setup.ts';
import { createLogger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { createTestApi } from '../harness/api.ts';
import { RECORDED_KEY, startBareServer } from './bare-server.ts';
import { recordStatements } from './record-statements.ts';
import { seedAllocation } from './seed-allocation.ts';
import type { LoadRequest, LoadResult } from './load.ts';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 3);
const CONNECTIONS = 16;
const TARGET = 0.5;

const teardown = await setup();
// Logged as in production, to a discarding stream.
const api = await createTestApi({
  log: createLogger('bench', { write: () => undefined }),
});
const member = api.people['member']!;
const allocationId = await seedAllocation(api.services.db, member);
const platform = await api.server.listen({ host: '127.0.0.1', port: 0 });
const load = fork(fileURLToPath(new URL('./load.ts', import.meta.url)));

const authorization = { authorization: `Bearer ${member.apiKey}` };
const operator = { authorization: `Bearer ${api.people['operator']!.apiKey}` };
const read = `/api/v1/allocations/${allocationId}`;
const sku = '/api/v1/admin/skus/h200-sxm-slice';
const edit = {
  method: 'PATCH',
  body: '{"enabled":true}',
  headers: { ...operator, 'content-type': 'application/json' },
};
const readStatements = await recordStatements(() => fetch(platform + read, { headers: authorization }));
const writeStatements = await recordStatements(() =>
  fetch(platform + sku, { ...edit, headers: { ...edit.headers, 'x-idempotency-key': RECORDED_KEY } }),
);
console.log(`a read sends ${readStatements.length} statements, a write ${writeStatements.length}`);
const bare = await startBareServer(api.services, {
  '/read': { method: 'GET', statements: readStatements, oneTransaction: true },
  '/read-unscoped': { method: 'GET', statements: readStatements.filter(isNoScope), oneTransaction: false },
  '/write': { method: 'PATCH', statements: writeStatements, oneTransaction: true },
});
const cases: Record<string, LoadRequest> = {
  'read, platform': { url: platform + read, headers: authorization },
  'read, bare (same statements)': { url: `${bare.url}/read`, headers: authorization },
  'read, bare (without role and scope)': { url: `${bare.url}/read-unscoped`, headers: authorization },
  'write, platform': { url: platform + sku, ...edit, idempotencyKeys: true },
  'write, bare (same statements)': { url: `${bare.url}/write`, ...edit, idempotencyKeys: true },
};

try {
  const rates = new Map<string, LoadResult[]>(Object.keys(cases).map((name) => [name, []]));
  for (const request of Object.values(cases)) await run(request, 1);
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const [name, request] of Object.entries(cases)) rates.get(name)!.push(await run(request, SECONDS));
    console.log(`round ${round}/${ROUNDS}, load ${loadavg()[0]!.toFixed(1)}`);
  }
  console.log('');
  const median = new Map([...rates].map(([name, results]) => [name, medianOf(results)]));
  for (const [name, { perSecond, p50, p99 }] of median) {
    console.log(
      `${name.padEnd(38)} ${perSecond.toFixed(0).padStart(6)} req/s  p50 ${p50.toFixed(1)} ms  p99 ${p99.toFixed(1)} ms`,
    );
  }
  // Paired by round: both sides of a pair met the same load of the machine.
  const ratio = (a: string, b: string): number => {
    const pairs = rates.get(a)!.map(({ perSecond }, round) => perSecond / rates.get(b)![round]!.perSecond);
    return pairs.toSorted((x, y) => x - y)[Math.floor(pairs.length / 2)]!;
  };
  const same = ratio('read, platform', 'read, bare (same statements)');
  console.log(`\nread against the same SQL:       ${percent(same)} (target ${percent(TARGET)})`);
  console.log(
    `read without role and scope:     ${percent(ratio('read, platform', 'read, bare (without role and scope)'))}`,
  );
  console.log(
    `write against the same SQL:      ${percent(ratio('write, platform', 'write, bare (same statements)'))}`,
  );
  if (same < TARGET) process.exitCode = 1;
} finally {
  load.kill();
  await bare.close();
  await api.stop();
  await teardown();
}

function run(request: LoadRequest, seconds: number): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    load.once('message', (result: LoadResult | { error: string }) =>
      'error' in result ? reject(new Error(result.error)) : resolve(result),
    );
    load.send({ request, seconds, connections: CONNECTIONS, run: randomUUID() });
  });
}

function medianOf(results: LoadResult[]): LoadResult {
  return results.toSorted((a, b) => a.perSecond - b.perSecond)[Math.floor(results.length / 2)]!;
}

/** Everything but the transaction that brings the role and the tenant. */
function isNoScope({ text }: { text: string }): boolean {
  return !/^(begin|commit)/.test(text);
}

function percent(part: number): string {
  return `${(part * 100).toFixed(0)} %`;
}
