import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { retireUnusedAuthorities } from '@gpuaas/control-plane/domains/fleet/identity/retire-unused-authorities';
import { Listener } from '@gpuaas/control-plane/platform/db/listener';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { Authorities, AUTHORITIES_CHANNEL } from '@gpuaas/control-plane/platform/keys/authorities';
import { createTestApi, type TestApi } from '../../harness/api.ts';
import { eventually } from '../../harness/eventually.ts';
import { addNode, ask } from '../../harness/fleet/fleet.ts';
import {
  authorityOfPort,
  callNodePort,
  heartbeatBody,
  identityFor,
  newCertificateRequest,
  startNodePort,
  type NodePort,
} from '../../harness/fleet/node-port.ts';

type NodeAuthority = components['schemas']['NodeAuthority'];

let api: TestApi;
let port: NodePort;
beforeAll(async () => {
  api = await createTestApi();
  port = await startNodePort(api.services);
});
afterAll(async () => {
  await port?.stop();
  await api?.stop();
});

async function authorities(): Promise<NodeAuthority[]> {
  return (await ask<{ items: NodeAuthority[] }>(api, 'operator', 'GET', '/node-authorities')).body.items;
}

async function authority(id: string): Promise<NodeAuthority> {
  return (await authorities()).find((one) => one.id === id)!;
}

/** Rotates and waits until the port uses it. */
async function rotate(): Promise<{ before: NodeAuthority; now: NodeAuthority }> {
  const before = (await authorities())[0]!;
  const { status, body } = await ask<NodeAuthority>(api, 'operator', 'POST', '/node-authorities', {
    reason: 'the yearly one',
  });
  expect(status).toBe(201);
  await inForce(body.id);
  return { before, now: body };
}

async function inForce(signingId: string): Promise<void> {
  await eventually('the rotation to be known', async () =>
    api.services.authorities.signing.id === signingId ? true : null,
  );
}

async function retire(id: string, body: object = {}) {
  const path = `/node-authorities/${id}/retire`;
  return await ask<NodeAuthority & { code?: string }>(api, 'operator', 'POST', path, {
    reason: 'over',
    ...body,
  });
}

/** The worker's periodic job, some time from now. */
async function retireUnused(laterMs = 0): Promise<void> {
  const now = new Date(Date.now() + laterMs);
  const services = { ...servicesAsRole(api.services, 'gpuaas_worker'), clock: { now: () => now } };
  await retireUnusedAuthorities.run(services, { from: now, to: now });
}

const bundle = (): string => api.services.authorities.bundle.pem;
const HOUR = 3_600_000;

describe('a rotation', () => {
  it('waits for open enrolments, whose tokens name the CA that serves', async () => {
    const { before, now } = await rotate();
    const minted = await ask<{ id: string; token: string }>(api, 'operator', 'POST', '/node-enrolments', {
      hostname: 'rack7-u1',
      region: 'uae-north-1',
    });
    expect(minted.body.token).toContain(before.fingerprint);
    expect(await authorityOfPort(port.port)).toBe(before.fingerprint);
    expect(await authority(before.id)).toMatchObject({ open_enrolments: 1 });
    const refused = await retire(before.id);
    expect(refused).toMatchObject({ status: 409, body: { code: 'authority_in_use' } });
    await ask(api, 'operator', 'POST', `/node-enrolments/${minted.body.id}/revoke`);
    expect(await retire(before.id)).toMatchObject({ status: 200, body: { state: 'retired' } });
    await eventually('the port to be vouched for by the new CA', async () =>
      (await authorityOfPort(port.port)) === now.fingerprint ? true : null,
    );
    expect(await retire(now.id)).toMatchObject({ status: 409, body: { code: 'authority_signing' } });
  });

  it('sends the new CA to hosts with their heartbeat and retires the old one only when nothing depends on it', async () => {
    const nodeId = await addNode(api);
    const first = bundle();
    const identity = await identityFor(api.services, nodeId);
    const { before, now } = await rotate();
    expect(now.subject).not.toBe(before.subject);
    expect(await authority(before.id)).toMatchObject({ state: 'trusted', hosts: 1, valid_certificates: 1 });

    // Knows nothing yet, and is still served.
    const old = heartbeatBody({ ca_bundle_sha256: 'a'.repeat(64) });
    const reply = await callNodePort(port.port, first, identity, '/heartbeat', old);
    expect(reply).toMatchObject({ status: 200, body: { ca_bundle_pem: bundle(), renew_certificate: true } });
    expect(bundle()).toContain(first.trim());

    const { key, csrPem } = await newCertificateRequest();
    const renewed = await callNodePort(port.port, bundle(), identity, '/renew', { csr_pem: csrPem });
    expect(renewed.status).toBe(201);
    const fresh = { key, cert: renewed.body['certificate_pem'] as string };
    const current = heartbeatBody({ ca_bundle_sha256: api.services.authorities.bundle.sha256 });
    const heard = await callNodePort(port.port, bundle(), fresh, '/heartbeat', current);
    expect(heard.body).toEqual({ server_time: expect.any(String) });

    await retireUnused();
    expect(await authority(before.id)).toMatchObject({ state: 'trusted', hosts: 0, valid_certificates: 1 });
    // The replaced certificate expires.
    await retireUnused(25 * HOUR);
    expect(await authority(before.id)).toMatchObject({ state: 'retired', retired_at: expect.any(String) });
    await eventually('the port to change its certificate', async () =>
      (await authorityOfPort(port.port)) === now.fingerprint ? true : null,
    );
    const only = api.services.authorities.bundle.pem;
    expect(only).not.toContain(first.trim());
    expect((await callNodePort(port.port, only, fresh, '/heartbeat', heartbeatBody())).status).toBe(200);
    expect((await callNodePort(port.port, only, identity, '/heartbeat', heartbeatBody())).status).toBe(401);
    const kept = await api.services.db
      .selectFrom('node_authorities')
      .select('sealed_private_key')
      .where('id', '=', before.id)
      .executeTakeFirstOrThrow();
    expect(kept.sealed_private_key).toBeNull();
  });

  it('reaches the ports of other processes', async () => {
    const { services } = api;
    const listener = new Listener(api.databaseUrl, [AUTHORITIES_CHANNEL]);
    await listener.start();
    const elsewhere = await Authorities.open({ ...services, listener, rereadMs: HOUR });
    const other = await startNodePort({ ...services, authorities: elsewhere });
    try {
      const identity = await identityFor(services, await addNode(api));
      const { now } = await rotate();
      await eventually('the other process to hear of it', async () =>
        elsewhere.signing.id === now.id ? true : null,
      );
      const reply = await callNodePort(other.port, bundle(), identity, '/heartbeat', heartbeatBody());
      expect(reply.body).toMatchObject({ renew_certificate: true });
    } finally {
      await other.stop();
      await elsewhere.close();
      await listener.close();
    }
  });

  it('cuts off who depends on the old CA when an operator says so', async () => {
    const nodeId = await addNode(api);
    const late = await identityFor(api.services, nodeId);
    const { before } = await rotate();
    expect((await retire(before.id)).status).toBe(409);
    expect(await retire(before.id, { cut_off: true })).toMatchObject({
      status: 200,
      body: { state: 'retired', hosts: 0 },
    });
    await eventually('the port to trust the old CA no longer', async () =>
      (await callNodePort(port.port, bundle(), late, '/heartbeat', heartbeatBody())).status === 401
        ? true
        : null,
    );
    expect((await ask(api, 'operator', 'GET', `/nodes/${nodeId}/identity`)).body).toMatchObject({
      state: 'revoked',
    });
    expect((await retire(before.id)).status).toBe(200);
  });
});
