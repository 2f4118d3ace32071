import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { claimTask } from '@gpuaas/control-plane/domains/tasks/claim-task';
import { issueTask } from '@gpuaas/control-plane/domains/tasks/issue-task';
import { reconcileNodes } from '@gpuaas/control-plane/domains/fleet/reconcile-nodes';
import { requestIdentityRotation } from '@gpuaas/control-plane/domains/fleet/identity/rotate-identity';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { addNode, ask } from '../../harness/fleet/fleet.ts';
import {
  callNodePort,
  heartbeatBody,
  identityFor,
  newCertificateRequest,
  startNodePort,
  type NodePort,
  type TestIdentity,
} from '../../harness/fleet/node-port.ts';
import { openTunnel } from '../../harness/fleet/node-tunnel.ts';

let api: TestApi;
let node: NodePort;
const tick = reconcileNodes();
beforeAll(async () => {
  api = await createTestApi();
  node = await startNodePort(api.services);
});
afterAll(async () => {
  await node?.stop();
  await api?.stop();
});

const call = (identity: TestIdentity, path: string, body: object) =>
  callNodePort(node.port, api.services.authorities.bundle.pem, identity, path, body);
const beat = (identity: TestIdentity) => call(identity, '/heartbeat', heartbeatBody());

async function renew(identity: TestIdentity): Promise<TestIdentity> {
  const { key, csrPem } = await newCertificateRequest();
  const answer = await call(identity, '/renew', { csr_pem: csrPem });
  expect(answer.status).toBe(201);
  return { key, cert: String(answer.body['certificate_pem']) };
}

async function endOfLease(nodeId: string): Promise<void> {
  const services = servicesAsRole(api.services, 'gpuaas_worker');
  await services.db
    .transaction()
    .execute((tx) => requestIdentityRotation(tx, services.clock.now(), nodeId, newId()));
}

async function reconcile(later = 0): Promise<void> {
  const now = new Date(Date.now() + later);
  const services = { ...servicesAsRole(api.services, 'gpuaas_worker'), clock: { now: () => now } };
  await tick.run(services, { from: now, to: now });
}

async function cordons(nodeId: string): Promise<string[]> {
  const { body } = await ask<{ cordons: { reason: string }[] }>(api, 'operator', 'GET', `/nodes/${nodeId}`);
  return body.cordons.map(({ reason }) => reason);
}

async function openIncidents(nodeId: string): Promise<string[]> {
  const { body } = await ask<{ items: { type: string; target_id: string }[] }>(
    api,
    'operator',
    'GET',
    '/incidents?state=open&limit=200',
  );
  return body.items.filter(({ target_id }) => target_id === nodeId).map(({ type }) => type);
}

it('a host is asked to renew, and is cordoned until it connects with the new key', async () => {
  const nodeId = await addNode(api);
  const old = await identityFor(api.services, nodeId);
  expect((await beat(old)).body).not.toHaveProperty('renew_certificate');
  await endOfLease(nodeId);
  expect((await beat(old)).body).toMatchObject({ renew_certificate: true });
  await reconcile();
  expect(await cordons(nodeId)).toEqual(['identity_rotation']);

  // The agent dies before it has stored the first response, and renews once more before it connects.
  const lost = await renew(old);
  const kept = await renew(await renew(old));
  await reconcile();
  expect(await cordons(nodeId)).toEqual(['identity_rotation']);
  expect((await beat(kept)).body).not.toHaveProperty('renew_certificate');
  // Renewed on its own schedule a moment before the platform checks.
  const later = await renew(kept);
  await reconcile();
  expect(await cordons(nodeId)).toEqual([]);
  expect((await beat(old)).status).toBe(401);
  expect((await beat(lost)).status).toBe(401);
  expect((await beat(kept)).status).toBe(200);
  expect((await beat(later)).status).toBe(200);
});

it('a copy of the old key is refused, whether or not it was renewed in time', async () => {
  const nodeId = await addNode(api);
  const old = await identityFor(api.services, nodeId);
  await endOfLease(nodeId);
  const copy = await renew(old);
  const own = await renew(old);
  expect((await beat(own)).status).toBe(200);
  await reconcile();
  expect((await beat(copy)).status).toBe(401);
  expect((await beat(old)).status).toBe(401);
  expect((await beat(own)).status).toBe(200);
});

it('a tunnel and a claim of the old certificate end with it', async () => {
  const nodeId = await addNode(api);
  const old = await identityFor(api.services, nodeId);
  const { closed } = await openTunnel(api, node, nodeId, old);
  const serial = new X509Certificate(old.cert).serialNumber.toLowerCase();
  const services = servicesAsRole(api.services, 'gpuaas_node');
  const waiting = claimTask(services, nodeId, 8, AbortSignal.timeout(60_000), serial);

  await endOfLease(nodeId);
  const own = await renew(old);
  expect((await beat(own)).status).toBe(200);
  await reconcile();
  await closed;
  await api.services.db.transaction().execute((tx) =>
    issueTask(tx, {
      nodeId,
      kind: 'slice.topology_discover',
      params: {},
      correlationId: newId(),
      expiresAt: new Date(Date.now() + 60_000),
    }),
  );
  expect(await waiting).toBeNull();
  expect((await call(own, '/tasks/claim', { wait_seconds: 0 })).status).toBe(200);
});

it('a host that owes its new key for too long is an incident, which ends with the key', async () => {
  const nodeId = await addNode(api);
  const old = await identityFor(api.services, nodeId);
  await endOfLease(nodeId);
  await reconcile();
  expect(await openIncidents(nodeId)).toEqual([]);
  await reconcile(3_600_000);
  expect(await openIncidents(nodeId)).toContain('node_identity_not_rotated');
  await beat(await renew(old));
  await reconcile(3_600_000);
  await reconcile(3_600_000);
  expect(await openIncidents(nodeId)).not.toContain('node_identity_not_rotated');
});
