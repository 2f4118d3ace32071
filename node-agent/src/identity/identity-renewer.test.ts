import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { readConfig, type AgentConfig } from '../config.ts';
import { createControlPlane, type ControlPlane, type Heartbeat } from '../control-plane.ts';
import { ALWAYS_CONNECTED } from '../link.ts';
import { createPlatformClock } from '../platform-clock.ts';
import { startFakeControlPlane, type FakeControlPlane } from '../testing/fake-control-plane.ts';
import { silentLog } from '../testing/simulated-host.ts';
import { createTestAuthority } from '../testing/test-authority.ts';
import { bundleDigest } from './ca-bundle.ts';
import { enrolmentTokenFile } from './enrolment-token-file.ts';
import { ensureIdentity } from './ensure-identity.ts';
import { identityProblemFile, loadIdentity } from './identity.ts';
import { classifyIdentityError } from './identity-problem.ts';
import { createIdentityRenewer, type IdentityRenewer } from './identity-renewer.ts';

vi.setConfig({ testTimeout: 30_000 });
const deadline = { timeout: 30_000 };

let platform: FakeControlPlane;
let config: AgentConfig;
let stop: AbortController;
let keeper: IdentityRenewer;
let controlPlane: ControlPlane;
let kept: Promise<void>;

beforeEach(async () => {
  platform = await startFakeControlPlane();
  const dir = await mkdtemp(join(tmpdir(), 'gpuaas-identity-'));
  config = readConfig({
    GPUAAS_AGENT_DIR: dir,
    GPUAAS_AGENT_SERVER: platform.url,
    GPUAAS_AGENT_TOKEN: platform.token(),
    GPUAAS_AGENT_HOSTNAME: 'gpu-01',
  });
  stop = new AbortController();
  const clock = createPlatformClock();
  const identity = await ensureIdentity(config, silentLog, stop.signal);
  // The token has been used; from here on the host has only the identity on its disk.
  config.token = null;
  keeper = createIdentityRenewer({ config, clock, log: silentLog, recoverEveryMs: 50 });
  controlPlane = createControlPlane({
    server: config.server,
    identity,
    clock,
    link: ALWAYS_CONNECTED,
    onCall: keeper.noteCall,
  });
  kept = keeper.keep(controlPlane, stop.signal);
});

afterEach(async () => {
  stop.abort();
  await kept;
  controlPlane.close();
  await platform.close();
  await rm(config.dir, { recursive: true });
});

const facts: Heartbeat = {
  boot_id: 'b',
  agent_version: '0',
  agent_time: new Date().toISOString(),
  leases: [],
  vms: [],
};

async function beat(times = 1): Promise<boolean> {
  let accepted = false;
  for (let count = 0; count < times; count += 1) {
    accepted = await controlPlane.heartbeat(facts).then(
      () => true,
      () => false,
    );
  }
  return accepted;
}

async function problem(): Promise<string | null> {
  const file = identityProblemFile(config.dir);
  return existsSync(file) ? (JSON.parse(await readFile(file, 'utf8')) as { code: string }).code : null;
}

function revoke(): void {
  platform.refuse.push({ path: /heartbeat|renew/, status: 401, code: 'unauthenticated', times: Infinity });
}

it('a revoked host says what to do and comes back with a new token, without a restart', async () => {
  revoke();
  await beat(3);
  await expect.poll(problem, deadline).toBe('certificate_refused');
  expect(platform.enrolments).toBe(1);
  await writeFile(enrolmentTokenFile(config.dir), `${platform.token()}\n`);
  await expect.poll(() => platform.enrolments, deadline).toBe(2);
  platform.refuse.length = 0;
  await expect.poll(() => beat(), deadline).toBe(true);
  await expect.poll(problem, deadline).toBeNull();
  expect(existsSync(enrolmentTokenFile(config.dir))).toBe(false);
});

it('a refused token is not tried again and again', async () => {
  revoke();
  platform.refuse.push({ path: /enroll/, status: 401, code: 'enrolment_token_invalid', times: 1 });
  await writeFile(enrolmentTokenFile(config.dir), platform.token());
  await beat(3);
  await expect.poll(() => platform.refuse[1]?.times, deadline).toBe(0);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(platform.enrolments).toBe(1);
});

it('does not enrol again after one refusal or while the platform is down', async () => {
  await writeFile(enrolmentTokenFile(config.dir), platform.token());
  platform.refuse.push({ path: /heartbeat/, status: 401, code: 'unauthenticated', times: 2 });
  await beat(3);
  platform.refuse.push({ path: /heartbeat/, status: 503, code: 'unavailable', times: 10 });
  await beat(10);
  expect(await problem()).toBeNull();
  expect(platform.enrolments).toBe(1);
});

it('a platform whose CA was reset is not trusted until a new token names the new CA', async () => {
  const port = Number(new URL(platform.url).port);
  await platform.close();
  platform = await startFakeControlPlane(port);
  await beat(3);
  await expect.poll(problem, deadline).toBe('platform_not_trusted');
  expect(platform.heartbeats).toEqual([]);
  await writeFile(enrolmentTokenFile(config.dir), platform.token());
  await expect.poll(() => beat(), deadline).toBe(true);
});

it('a token of another platform does not move the host there', async () => {
  revoke();
  const other = await createTestAuthority();
  await writeFile(enrolmentTokenFile(config.dir), `gpe_${'s'.repeat(32)}.${other.fingerprint}`);
  await beat(3);
  await expect.poll(problem, deadline).toBe('certificate_refused');
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(platform.enrolments).toBe(1);
});

it('renews immediately with a fresh key when the platform asks for it', async () => {
  const before = controlPlane.identity.private_key_pem;
  keeper.renewSoon();
  await expect.poll(() => platform.renewals, deadline).toBe(1);
  await expect.poll(async () => (await loadIdentity(config.dir))?.private_key_pem).not.toBe(before);
  expect(await beat()).toBe(true);
});

it('renews before the certificate runs out', async () => {
  stop.abort();
  await kept;
  stop = new AbortController();
  platform.lifetimeMs = 3_000;
  keeper.renewSoon();
  kept = keeper.keep(controlPlane, stop.signal);
  await expect.poll(() => platform.renewals, deadline).toBeGreaterThan(2);
  expect(await beat()).toBe(true);
});

it('trusts a new CA beside the old one, also after restarts, and rejects an invalid bundle', async () => {
  const next = await createTestAuthority();
  const bundle = `${platform.authority.caPem}\n${next.caPem}`;
  await expect(keeper.trustBundle('rubbish')).rejects.toThrow('no certificate');
  await expect(keeper.trustBundle(platform.authority.server.certPem)).rejects.toThrow('not of a CA');
  await keeper.trustBundle(bundle);
  expect(await beat()).toBe(true);
  const stored = await loadIdentity(config.dir);
  expect(bundleDigest(stored?.ca_bundle_pem ?? '')).toBe(bundleDigest(bundle));
  const port = Number(new URL(platform.url).port);
  await platform.close();
  // The platform presents a certificate of the new CA and still accepts those of the old one.
  platform = await startFakeControlPlane(port, { ...next, caPem: bundle });
  await expect.poll(() => beat(), deadline).toBe(true);
});

it('distinguishes wrong dates from wrong trust', () => {
  const coded = (code: string): Error => Object.assign(new Error(code), { code });
  expect(classifyIdentityError(coded('CERT_NOT_YET_VALID'))).toBe('clock_wrong');
  expect(classifyIdentityError(coded('SELF_SIGNED_CERT_IN_CHAIN'))).toBe('platform_not_trusted');
  expect(classifyIdentityError(coded('ECONNREFUSED'))).toBeNull();
});
