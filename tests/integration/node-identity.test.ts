import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EC_P256 } from '@gpuaas/control-plane/platform/keys/certificates';
import { x509 } from '@gpuaas/control-plane/platform/keys/x509';
import { createTestApi, type TestApi } from '../harness/api.ts';
import { addNode, ask } from '../harness/fleet.ts';
import {
  callNodePort,
  identityFor,
  newKeyPair,
  startNodePort,
  type NodePort,
  type TestIdentity,
} from '../harness/node-port.ts';

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
  const { signing: ca } = api.services.authorities;
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

describe('an enrolment', () => {
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
