/** What the worst body of every operation costs the event loop, sent by somebody whose body is read. */
import { performance } from 'node:perf_hooks';
import document from '@gpuaas/contracts/generated/openapi.json' with { type: 'json' };
import { createCallers, keyOfHolder } from '../contract/access/callers.ts';
import { Contract, type Operation } from '../contract/operations.ts';
import { worstBodies } from '../attack/worst-body.ts';
import { setup } from '../setup/global-setup.ts';
import { createTestApi } from '../harness/api.ts';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5);
const TARGET_MS = 20;

const teardown = await setup();
const api = await createTestApi({ asInProduction: true });
const contract = new Contract(document);
const tenantOf = (person: string) => ({
  organizationId: api.people[person]!.organizationId!,
  projectId: api.people[person]!.projectId!,
});
const callers = await createCallers(api.services.db, { owner: tenantOf('admin'), other: tenantOf('other') });

try {
  const results = [];
  for (const operation of contract.operations.filter(({ body }) => body !== null)) {
    const costs = [];
    for (const body of worstBodies(contract, operation)) costs.push(await cost(operation, body));
    const worst = costs.toSorted((a, b) => b.ms - a.ms)[0]!;
    results.push({ id: operation.id, ...worst });
  }
  for (const { id, ms, bytes, status, start } of results.toSorted((a, b) => b.ms - a.ms))
    console.log(
      `${id.padEnd(32)} ${ms.toFixed(1).padStart(7)} ms  ${String(bytes).padStart(7)} B  ${status}  ${start}`,
    );
  const over = results.filter(({ ms }) => ms > TARGET_MS);
  console.log(`\n${results.length} operations, ${over.length} over ${TARGET_MS} ms`);
} finally {
  await api.stop();
  await teardown();
}

/** The median of some rounds after one that compiles what is compiled at the first refusal. */
async function cost(operation: Operation, payload: string) {
  const times = [];
  let status = 0;
  for (let round = 0; round <= ROUNDS; round += 1) {
    const before = performance.eventLoopUtilization();
    const answer = await send(operation, payload);
    const { active } = performance.eventLoopUtilization(before);
    status = answer.statusCode;
    if (round > 0) times.push(active);
  }
  const ms = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!;
  return { ms, bytes: payload.length, status, start: payload.slice(0, 30) };
}

function send({ method, path, permission }: Operation, payload: string) {
  const open = permission === null || permission === 'self';
  const key = open ? api.people['admin']!.apiKey : keyOfHolder(callers, permission);
  return api.server.inject({
    method: method as 'POST',
    url: path.replaceAll(/\{\w+\}/g, '019a8000-0000-7000-8000-000000000001'),
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    payload,
  });
}
