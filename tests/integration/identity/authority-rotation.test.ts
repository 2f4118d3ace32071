import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { unwrap } from '@gpuaas/sdk/problem';
import { eventually } from '../../harness/eventually.ts';
import { freePort } from '../../harness/processes/free-port.ts';
import { authorityOfPort } from '../../harness/fleet/node-port.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';

let platform: TestPlatform;
let nodePort: number;
beforeAll(async () => {
  nodePort = await freePort();
  platform = await startTestPlatform({ nodes: 1, settings: { GPUAAS_NODE_PORT: String(nodePort) } });
});
afterAll(() => platform?.stop());

async function authorities() {
  return (await unwrap(platform.operator.GET('/api/v1/admin/node-authorities'))).items;
}

async function lastHeartbeat(): Promise<Date> {
  const row = await platform.services.db
    .selectFrom('nodes')
    .select('last_heartbeat_at')
    .executeTakeFirstOrThrow();
  return row.last_heartbeat_at!;
}

function stateOf(file: string): string {
  return join(platform.dataDir, 'hosts', platform.fleet.nodes[0]!.hostname, file);
}

async function trustedByAgent(): Promise<string> {
  const identity = JSON.parse(await readFile(stateOf('identity.json'), 'utf8')) as { ca_bundle_pem: string };
  return identity.ca_bundle_pem;
}

it('an agent moves to a new CA and continues when the old one is retired', async () => {
  const [old] = await authorities();
  expect(old).toMatchObject({ state: 'signing', hosts: 1 });
  const oldPem = platform.services.authorities.bundle.pem;

  const rotated = await unwrap(
    platform.operator.POST('/api/v1/admin/node-authorities', { body: { reason: 'the yearly one' } }),
  );
  expect(rotated).toMatchObject({ state: 'signing', hosts: 0 });
  await eventually('the agent to renew under the new CA', async () => {
    const [now, before] = await authorities();
    return now?.hosts === 1 && before?.hosts === 0 ? true : null;
  });
  expect(await authorityOfPort(nodePort)).toBe(old!.fingerprint);

  await unwrap(
    platform.operator.POST('/api/v1/admin/node-authorities/{authority_id}/retire', {
      params: { path: { authority_id: old!.id } },
      body: { reason: 'the agent has moved' },
    }),
  );
  const retiredAt = new Date();
  await eventually('the port to show the new CA', async () =>
    (await authorityOfPort(nodePort)) === rotated.fingerprint ? true : null,
  );
  await eventually('the agent to forget the old CA', async () =>
    (await trustedByAgent()).includes(oldPem) ? null : true,
  );
  await eventually('a heartbeat after it', async () => ((await lastHeartbeat()) > retiredAt ? true : null));

  // New connections must be accepted too, not only open ones.
  platform.fleet.killAgent(platform.fleet.nodes[0]!.hostname, 'SIGKILL');
  const killedAt = new Date();
  await eventually('the agent to come back', async () => ((await lastHeartbeat()) > killedAt ? true : null));
  await expect(access(stateOf('identity-problem.json'))).rejects.toThrow('ENOENT');
  const { id } = (await unwrap(platform.operator.GET('/api/v1/admin/nodes'))).items[0]!;
  const { certificates } = await unwrap(
    platform.operator.GET('/api/v1/admin/nodes/{node_id}/identity', { params: { path: { node_id: id } } }),
  );
  expect(certificates.filter((one) => one.revoked_at === null).length).toBeGreaterThan(0);
  expect(certificates.at(-1)!.revoked_at).not.toBeNull();
}, 240_000);
