import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimTask } from '@gpuaas/control-plane/domains/tasks/claim-task';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { newId } from '@gpuaas/control-plane/platform/ids';
import type { InProcessAuthority } from '@gpuaas/control-plane/platform/keys/authority';
import { EC_P256 } from '@gpuaas/control-plane/platform/keys/certificates';
import { x509 } from '@gpuaas/control-plane/platform/keys/x509';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { eventually } from '../../harness/eventually.ts';
import { addNode, ask } from '../../harness/fleet/fleet.ts';
import {
  trustsPort,
  callNodePort,
  identityFor,
  newCertificateRequest,
  newKeyPair,
  startNodePort,
  type NodePort,
  type TestIdentity,
} from '../../harness/fleet/node-port.ts';
import { dialTunnel, openTunnel } from '../../harness/fleet/node-tunnel.ts';

let api: TestApi;
let node: NodePort;
beforeAll(async () => {
  api = await createTestApi();
  node = await startNodePort(api.services);
});
afterAll(async () => {
  await node?.stop();
  await api?.stop();
});

/** A certificate of our CA, or of another one, with dates of our choosing. */
async function forged(options: { foreign?: boolean; from: number; to: number }): Promise<TestIdentity> {
  const { keys, key } = await newKeyPair();
  const other = await newKeyPair();
  const ca = api.services.authorities.signing as InProcessAuthority;
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: '4a0102030405060708090a0b0c0d0e0f',
    subject: 'CN=forged',
    issuer: ca.certificate.subject,
    notBefore: new Date(Date.now() + options.from),
    notAfter: new Date(Date.now() + options.to),
    signingAlgorithm: EC_P256,
    publicKey: keys.publicKey,
    signingKey: options.foreign ? other.keys.privateKey : ca.privateKey,
  });
  return { key, cert: certificate.toString('pem') };
}

async function claim(identity: TestIdentity): Promise<number> {
  const { bundle } = api.services.authorities;
  return (await callNodePort(node.port, bundle.pem, identity, '/tasks/claim', { wait_seconds: 0 })).status;
}

async function deniedReasons(): Promise<unknown[]> {
  const rows = await api.services.db
    .selectFrom('audit_logs')
    .select('detail')
    .where('action', '=', 'node.authenticate')
    .where('result', '=', 'denied')
    .orderBy('id')
    .execute();
  return rows.map((row) => (row.detail as { reason: string }).reason);
}

const HOUR = 3_600_000;

it('an agent that speaks every few seconds keeps its connection', async () => {
  const agent = new Agent({ keepAlive: true, ca: api.services.authorities.bundle.pem });
  const call = request({ agent, host: '127.0.0.1', servername: 'localhost', port: node.port, path: '/' });
  const [answer] = (await once(call.end(), 'response')) as [IncomingMessage];
  answer.resume();
  expect(answer.headers['keep-alive']).toBe('timeout=75');
  agent.destroy();
});

it('the node port vouches for the names it was given, and for no other', async () => {
  const named = await startNodePort(api.services, { nodeHostnames: ['nodes.cloud.example', '10.20.0.5'] });
  const { pem } = api.services.authorities.bundle;
  try {
    expect(await trustsPort(named.port, 'nodes.cloud.example', pem)).toBe(true);
    expect(await trustsPort(named.port, 'localhost', pem)).toBe(true);
    expect(await trustsPort(named.port, 'other.example', pem)).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
    expect(await trustsPort(node.port, 'nodes.cloud.example', pem)).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  } finally {
    await named.stop();
  }
});

describe('a certificate', () => {
  it('that is foreign, expired, not yet valid or never issued is refused and written down', async () => {
    const before = (await deniedReasons()).length;
    expect(await claim(await forged({ foreign: true, from: -HOUR, to: HOUR }))).toBe(401);
    expect(await claim(await forged({ from: -2 * HOUR, to: -HOUR }))).toBe(401);
    expect(await claim(await forged({ from: HOUR, to: 2 * HOUR }))).toBe(401);
    expect(await claim(await forged({ from: -HOUR, to: HOUR }))).toBe(401);
    expect((await deniedReasons()).slice(before)).toEqual(['foreign', 'expired', 'not_yet_valid', 'unknown']);
  });

  it('is worth nothing from the moment it is revoked', async () => {
    const nodeId = await addNode(api);
    const identity = await identityFor(api.services, nodeId);
    expect(await claim(identity)).toBe(204);
    const revoked = await ask(api, 'operator', 'POST', `/nodes/${nodeId}/revoke-identity`, {
      reason: 'stolen',
    });
    expect(revoked.body).toMatchObject({ state: 'revoked' });
    expect(await claim(identity)).toBe(401);
    expect((await deniedReasons()).at(-1)).toBe('revoked');
  });
});

function call(identity: TestIdentity | null, path: string, body: object) {
  return callNodePort(node.port, api.services.authorities.bundle.pem, identity, path, body);
}

async function revoke(nodeId: string): Promise<void> {
  const path = `/nodes/${nodeId}/revoke-identity`;
  expect((await ask(api, 'operator', 'POST', path, { reason: 'stolen' })).status).toBe(200);
}

async function addTask(nodeId: string): Promise<string> {
  const id = newId();
  await api.services.db
    .insertInto('node_tasks')
    .values({
      id,
      node_id: nodeId,
      subject_type: 'node',
      subject_id: nodeId,
      kind: 'slice.topology_discover',
      params: '{}',
      correlation_id: newId(),
      expires_at: new Date(Date.now() + HOUR),
    })
    .execute();
  return id;
}

async function taskState(taskId: string): Promise<string> {
  const { db } = api.services;
  const row = await db.selectFrom('node_tasks').select('state').where('id', '=', taskId).executeTakeFirst();
  return row!.state;
}

async function enrol(hostname: string, token: string) {
  const { key, csrPem } = await newCertificateRequest();
  const answer = await call(null, '/enroll', { token, csr_pem: csrPem, hostname, agent_version: '0.1.0' });
  return { ...answer, identity: { key, cert: String(answer.body['certificate_pem']) } };
}

async function mint(hostname?: string): Promise<{ id: string; token: string }> {
  const body = { ...(hostname ? { hostname } : {}), region: 'uae-north-1' };
  return (await ask<{ id: string; token: string }>(api, 'operator', 'POST', '/node-enrolments', body)).body;
}

describe('a revocation', () => {
  it('cuts the tunnel that is open', async () => {
    const nodeId = await addNode(api);
    const identity = await identityFor(api.services, nodeId);
    const { closed } = await openTunnel(api, node, nodeId, identity);
    await revoke(nodeId);
    await closed;
    await eventually('the cut', async () => (node.hub.nodeIds().includes(nodeId) ? null : true));
  });

  it('is not needed for a silent tunnel, which is closed automatically', async () => {
    const nodeId = await addNode(api);
    const identity = await identityFor(api.services, nodeId);
    const silent = dialTunnel(api, node, identity);
    await once(silent, 'close');
    expect(node.hub.nodeIds()).not.toContain(nodeId);
  });

  it('leaves a request that was waiting with nothing', async () => {
    const nodeId = await addNode(api);
    const services = servicesAsRole(api.services, 'gpuaas_node');
    const waiting = claimTask(services, nodeId, 6, AbortSignal.timeout(60_000));
    await revoke(nodeId);
    const taskId = await addTask(nodeId);
    expect(await waiting).toBeNull();
    expect(await taskState(taskId)).toBe('queued');
  });

  it('is over when the host enrols again', async () => {
    const hostname = 'rack9-u3';
    const first = await enrol(hostname, (await mint(hostname)).token);
    expect(first.status).toBe(201);
    const nodeId = String(first.body['node_id']);
    await revoke(nodeId);
    expect(await claim(first.identity)).toBe(401);
    const again = await enrol(hostname, (await mint(hostname)).token);
    expect(again).toMatchObject({ status: 201, body: { node_id: nodeId } });
    expect((await ask(api, 'operator', 'GET', `/nodes/${nodeId}/identity`)).body).toMatchObject({
      state: 'active',
      revoked_at: null,
    });
    const taskId = await addTask(nodeId);
    expect(await claim(again.identity)).toBe(200);
    expect(await taskState(taskId)).toBe('claimed');
    expect(await claim(first.identity)).toBe(401);
  });
});

describe('a task of another host', () => {
  it('cannot be touched, and who tries is written down', async () => {
    const [owner, other] = [await addNode(api), await addNode(api)];
    const taskId = await addTask(owner);
    expect(await claim(await identityFor(api.services, owner))).toBe(200);
    const identity = await identityFor(api.services, other);
    const outcome = { epoch: 1, outcome: 'failed', error: { code: 'x', detail: 'x' } };
    expect((await call(identity, `/tasks/${taskId}/complete`, outcome)).status).toBe(404);
    const progress = { epoch: 1, stage: 'discover', percent: 1, message: 'mine' };
    expect((await call(identity, `/tasks/${taskId}/progress`, progress)).status).toBe(404);
    expect(await taskState(taskId)).toBe('claimed');
    const rows = await api.services.db
      .selectFrom('audit_logs')
      .select(['target_id', 'result', 'detail'])
      .where('action', '=', 'node.use_task')
      .execute();
    const row = { target_id: other, result: 'denied', detail: { task_id: taskId } };
    expect(rows).toEqual([row, row]);
  });
});

describe('an enrolment', () => {
  it('without a name serves one new host, and none that is known', async () => {
    await enrol('rack9-u7', (await mint('rack9-u7')).token);
    const { id, token } = await mint();
    expect(await enrol('rack9-u7', token)).toMatchObject({
      status: 401,
      body: { code: 'enrolment_token_invalid' },
    });
    const first = await enrol('rack9-u8', token);
    expect(first.status).toBe(201);
    expect((await enrol('rack9-u9', token)).body['code']).toBe('enrolment_token_invalid');
    const list = await ask<{ items: object[] }>(api, 'operator', 'GET', '/node-enrolments');
    const used = { id, state: 'used', hostname: null, node_id: first.body['node_id'] };
    expect(list.body.items).toContainEqual(expect.objectContaining(used));
  });

  it('that was revoked gives no identity', async () => {
    const { id, token } = await mint('rack9-u2');
    await ask(api, 'operator', 'POST', `/node-enrolments/${id}/revoke`);
    expect(await enrol('rack9-u2', token)).toMatchObject({
      body: { code: 'enrolment_token_invalid' },
    });
  });

  it('is listed with its state and can be revoked before it is used', async () => {
    const body = { hostname: 'rack9-u1', region: 'uae-north-1' };
    const minted = await ask<{ id: string; token: string }>(
      api,
      'operator',
      'POST',
      '/node-enrolments',
      body,
    );
    const { id, token } = minted.body;
    const revoked = await ask(api, 'operator', 'POST', `/node-enrolments/${id}/revoke`);
    expect(revoked.body).toMatchObject({ id, state: 'revoked' });
    const list = await ask<{ items: object[] }>(api, 'operator', 'GET', '/node-enrolments');
    expect(list.body.items[0]).toMatchObject({ id, hostname: 'rack9-u1', state: 'revoked' });
    expect(JSON.stringify(list.body)).not.toContain(token);
  });
});
