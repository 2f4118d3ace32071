import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueNodeIdentity } from '@gpuaas/control-plane/domains/fleet/identity/issue-identity';
import { createTestDatabase } from '@gpuaas/control-plane/platform/db/testing';
import { StepCa } from '@gpuaas/control-plane/platform/keys/step-ca';
import { createLogger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { openServices } from '@gpuaas/control-plane/roles/open-services';
import { createCertificateRequest } from '../../../node-agent/src/identity/certificate-request.ts';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { addNode, ask } from '../../harness/fleet/fleet.ts';
import { callNodePort, heartbeatBody, startNodePort, type NodePort } from '../../harness/fleet/node-port.ts';
import { startFakeStepCa, type FakeStepCa } from '../../harness/servers/step-ca.ts';

let stepCa: FakeStepCa;
beforeAll(async () => {
  stepCa = await startFakeStepCa();
});
afterAll(() => stepCa?.close());

describe('a platform whose CA is step-ca', () => {
  let api: TestApi;
  let port: NodePort;
  beforeAll(async () => {
    api = await createTestApi({ stepCa: stepCa.settings });
    port = await startNodePort(api.services);
  });
  afterAll(async () => {
    await port?.stop();
    await api?.stop();
  });

  async function enrol(hostname: string, token: string) {
    const { csr_pem, private_key_pem } = await createCertificateRequest();
    const body = { token, csr_pem, hostname, agent_version: '0.1.0' };
    const answer = await callNodePort(port.port, stepCa.rootPem, null, '/enroll', body);
    return { ...answer, identity: { key: private_key_pem, cert: String(answer.body['certificate_pem']) } };
  }

  async function mint(hostname: string): Promise<string> {
    const body = { hostname, region: 'uae-north-1' };
    return (await ask<{ token: string }>(api, 'operator', 'POST', '/node-enrolments', body)).body.token;
  }

  const claim = async (identity: { key: string; cert: string }) =>
    (await callNodePort(port.port, stepCa.rootPem, identity, '/tasks/claim', { wait_seconds: 0 })).status;

  it('enrols hosts under its root, with the name that the platform chose', async () => {
    const token = await mint('stepped');
    expect(token.endsWith(`.${stepCa.settings.rootFingerprint}`)).toBe(true);
    const { status, body, identity } = await enrol('stepped', token);
    expect(status).toBe(201);
    const leaf = new X509Certificate(identity.cert);
    expect(leaf.subject).toBe(`CN=${String(body['node_id'])}`);
    expect(leaf.subjectAltName).toBe(`URI:spiffe://gpuaas/node/${String(body['node_id'])}`);
    expect(Date.parse(leaf.validTo) - Date.now()).toBeLessThanOrEqual(24 * 3_600_000);
    expect(await claim(identity)).toBe(204);

    const beat = await callNodePort(
      port.port,
      stepCa.rootPem,
      identity,
      '/heartbeat',
      heartbeatBody({ ca_bundle_sha256: '0'.repeat(64) }),
    );
    expect(beat).toMatchObject({ status: 200, body: { ca_bundle_pem: stepCa.rootPem.trim() } });
    const renewal = await createCertificateRequest();
    const renewed = await callNodePort(port.port, stepCa.rootPem, identity, '/renew', {
      csr_pem: renewal.csr_pem,
    });
    expect(renewed.status).toBe(201);
    const fresh = { key: renewal.private_key_pem, cert: String(renewed.body['certificate_pem']) };
    expect(await claim(fresh)).toBe(204);

    const path = `/nodes/${String(body['node_id'])}/revoke-identity`;
    expect((await ask(api, 'operator', 'POST', path, { reason: 'stolen' })).status).toBe(200);
    expect([await claim(identity), await claim(fresh)]).toEqual([401, 401]);
  });

  it('spends no token while step-ca is away', async () => {
    const token = await mint('patient');
    stepCa.broken = true;
    const refused = await enrol('patient', token);
    expect(refused).toMatchObject({ status: 503, body: { code: 'certificate_authority_unavailable' } });
    stepCa.broken = false;
    expect((await enrol('patient', token)).status).toBe(201);
  });

  it('leaves rotation to step-ca', async () => {
    const answer = await ask(api, 'operator', 'POST', '/node-authorities', { reason: 'yearly' });
    expect(answer).toMatchObject({ status: 409, body: { code: 'authority_elsewhere' } });
  });

  it('a request with a name is refused by step-ca', async () => {
    const nodeId = await addNode(api);
    const { x509 } = await import('@gpuaas/control-plane/platform/keys/x509');
    const { EC_P256 } = await import('@gpuaas/control-plane/platform/keys/certificates');
    const keys = await crypto.subtle.generateKey(EC_P256, true, ['sign', 'verify']);
    const named = await x509.Pkcs10CertificateRequestGenerator.create({
      name: 'CN=admin',
      keys,
      signingAlgorithm: EC_P256,
    });
    const issued = api.services.db
      .transaction()
      .execute((tx) => issueNodeIdentity(api.services, tx, nodeId, named.toString('pem')));
    await expect(issued).rejects.toMatchObject({ code: 'certificate_authority_unavailable' });
    expect(stepCa.refusals.at(-1)).toBe('not the valid common name');
  });
});

it('is adopted and dropped with overlap: trusted hosts stay trusted', async () => {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'gpuaas-step-ca-'));
  const log = createLogger('test');
  log.level = 'silent';
  const open = (settings: typeof stepCa.settings | null) =>
    openServices({ databaseUrl: database.url, dataDir, log, stepCa: settings });
  const inForce = async (settings: typeof stepCa.settings | null) => {
    const { services, close } = await open(settings);
    const { signing, serving, bundle } = services.authorities;
    await close();
    return { signing: signing.fingerprint, serving: serving.fingerprint, bundle: bundle.pem };
  };
  try {
    const own = await inForce(null);
    const stepped = await inForce(stepCa.settings);
    expect(stepped).toMatchObject({ signing: stepCa.settings.rootFingerprint, serving: own.signing });
    expect(stepped.bundle).toContain(own.bundle);
    expect(stepped.bundle).toContain(stepCa.rootPem.trim());
    expect(await inForce(stepCa.settings)).toEqual(stepped);
    const back = await inForce(null);
    expect(back.signing).not.toBe(stepCa.settings.rootFingerprint);
    expect(back.bundle).toContain(stepCa.rootPem.trim());
    expect((await inForce(stepCa.settings)).signing).toBe(stepCa.settings.rootFingerprint);
  } finally {
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  }
});

it.each([
  [{ rootFingerprint: 'ab'.repeat(32) }, /answered 404/],
  [{ provisioner: 'nobody' }, /no JWK provisioner "nobody"/],
  [{ password: 'wrong' }, /decrypt/],
])('settings that do not fit are refused at the start: %j', async (change, message) => {
  await expect(StepCa.open({ ...stepCa.settings, ...change })).rejects.toThrow(message);
});
