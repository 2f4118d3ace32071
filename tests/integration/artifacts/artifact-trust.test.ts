import { watchArtifacts } from '@gpuaas/control-plane/domains/apps/artifacts/watch-artifacts';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newSigningKey, pushSignature, pushStatement } from '../../harness/artifacts/cosign.ts';
import { Publisher, type Answer } from '../../harness/artifacts/publisher.ts';

const REPOSITORY = 'system/apps/signed';
const trusted = { p256: newSigningKey('p256'), ed25519: newSigningKey('ed25519') };
const stranger = newSigningKey('p256');
const everyKey = Object.values(trusted).map(({ publicKey }) => publicKey);

let publisher: Publisher;
beforeAll(async () => {
  publisher = await Publisher.open();
  await publisher.policy('apps.trusted_publisher_keys', everyKey);
  await publisher.policy('apps.unsigned_artifacts_allowed', false);
});
afterAll(() => publisher?.api.stop());

/** Pushes an artifact with a signature, registers it, and publishes a version with it. */
async function signed(
  name: string,
  sign: (digest: string) => Promise<unknown>,
): Promise<{ digest: string; artifact: Answer['body'] }> {
  const digest = await publisher.registry.pushImage(REPOSITORY, name, `payload of ${name}`);
  await sign(digest);
  const artifact = await publisher.must('POST', 'admin/app-artifacts', {
    repository: REPOSITORY,
    reference: name,
  });
  await publisher.publish(name, '1', digest);
  return { digest, artifact };
}

const push =
  (key = trusted.p256) =>
  (digest: string) =>
    pushSignature(publisher.registry, REPOSITORY, digest, key);

describe('a signature', () => {
  it.each(['p256', 'ed25519'] as const)('by a trusted key of kind %s is accepted and shown', async (kind) => {
    const { digest, artifact } = await signed(`by-${kind}`, push(trusted[kind]));
    expect(artifact['trust']).toMatchObject({
      verdict: 'trusted',
      accepted: true,
      key_fingerprint: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
    expect((await publisher.move(digest, 'stage')).status).toBe(200);
    expect((await publisher.activate(`by-${kind}`, '1')).status).toBe(200);
  });

  it('by another key is refused as untrusted', async () => {
    const { digest, artifact } = await signed('by-stranger', push(stranger));
    expect(artifact['trust']).toMatchObject({ verdict: 'untrusted', accepted: false });
    expect(await publisher.move(digest, 'stage')).toMatchObject({
      status: 409,
      body: { code: 'artifact_untrusted', reason: 'untrusted' },
    });
    expect((await publisher.activate('by-stranger', '1')).body).toMatchObject({ code: 'artifact_untrusted' });
  });

  it('over another digest is refused as such', async () => {
    const other = await publisher.registry.pushImage(REPOSITORY, 'other', 'other payload');
    const { digest, artifact } = await signed('swapped', (signs) =>
      pushSignature(publisher.registry, REPOSITORY, signs, trusted.p256, other),
    );
    expect(artifact['trust']).toMatchObject({ verdict: 'digest_mismatch', accepted: false });
    expect(await publisher.move(digest, 'stage')).toMatchObject({
      status: 422,
      body: { code: 'artifact_digest_mismatch', reason: 'digest_mismatch' },
    });
  });

  it('that was stripped stops the promotion, and verification shows it', async () => {
    const { digest } = await signed('stripped', push());
    expect((await publisher.move(digest, 'stage')).status).toBe(200);
    const tag = `${digest.replace(':', '-')}.sig`;
    const removed = await publisher.registry.send('DELETE', `/v2/${REPOSITORY}/manifests/${tag}`);
    expect(removed.status).toBe(202);
    expect(await publisher.move(digest, 'promote', { to: 'canary' })).toMatchObject({
      status: 409,
      body: { code: 'artifact_untrusted' },
    });
    const { trust } = await publisher.must('POST', `admin/app-artifacts/${digest}/verify`);
    expect(trust).toMatchObject({ verdict: 'unsigned', accepted: false });
  });
});

describe('a statement of the platform', () => {
  const state =
    (key = trusted.ed25519, about: Parameters<typeof pushStatement>[4] = {}) =>
    (digest: string) =>
      pushStatement(publisher.registry, REPOSITORY, digest, key, about);
  const verdicts = async (name: string, sign: (digest: string) => Promise<unknown>) =>
    (await signed(name, sign)).artifact['trust'];

  it('over the digest and the repository is accepted, and its key is shown', async () => {
    const { digest, artifact } = await signed('stated', state());
    expect(artifact['trust']).toMatchObject({
      verdict: 'trusted',
      accepted: true,
      key_fingerprint: expect.stringMatching(/^sha256:/),
    });
    expect((await publisher.move(digest, 'stage')).status).toBe(200);
  });

  it('counts beside a signature of cosign that nobody trusts', async () => {
    const both = async (digest: string): Promise<void> => {
      await push(stranger)(digest);
      await state()(digest);
    };
    expect(await verdicts('stated-beside', both)).toMatchObject({ verdict: 'trusted' });
  });

  it('by another key, with another kind of key, or about something else is refused', async () => {
    const untrusted = { verdict: 'untrusted', accepted: false };
    expect(await verdicts('stated-by-stranger', state(newSigningKey('ed25519')))).toMatchObject(untrusted);
    expect(await verdicts('stated-by-p256', state(trusted.p256))).toMatchObject(untrusted);
    const elsewhere = state(trusted.ed25519, { repository: 'system/apps/elsewhere' });
    expect(await verdicts('stated-elsewhere', elsewhere)).toMatchObject(untrusted);
    const another = state(trusted.ed25519, { digest: `sha256:${'0'.repeat(64)}` });
    expect(await verdicts('stated-another', another)).toMatchObject({ verdict: 'digest_mismatch' });
  });
});

describe('an active artifact', () => {
  it('is not launched while its key is not trusted, and an incident says so until it is', async () => {
    const { digest } = await signed('revoked', push());
    expect((await publisher.activate('revoked', '1')).status).toBe(200);
    await publisher.policy('apps.trusted_publisher_keys', [trusted.ed25519.publicKey]);
    expect(await publisher.launch('revoked')).toMatchObject({
      status: 409,
      body: { code: 'app_rejected', gate: { reason: 'untrusted' } },
    });
    expect(await openIncidents(digest)).toMatchObject([{ detail: { reason: 'untrusted' } }]);
    await publisher.policy('apps.trusted_publisher_keys', everyKey);
    expect(await openIncidents(digest)).toEqual([]);
    expect((await publisher.launch('revoked')).status).toBe(202);
  });

  it('that its registry no longer has is an incident', async () => {
    const { digest } = await signed('deleted', push());
    expect((await publisher.activate('deleted', '1')).status).toBe(200);
    expect(await openIncidents(digest)).toEqual([]);
    const removed = await publisher.registry.send('DELETE', `/v2/${REPOSITORY}/manifests/${digest}`);
    expect(removed.status).toBe(202);
    expect(await openIncidents(digest)).toMatchObject([{ detail: { reason: 'not_in_registry' } }]);
  });
});

async function openIncidents(digest: string) {
  const { services } = publisher.api;
  const slot = { start: new Date(), end: new Date() } as never;
  await watchArtifacts.run(servicesAsRole(services, 'gpuaas_worker'), slot);
  return await services.db
    .selectFrom('incidents')
    .select(['summary', 'detail'])
    .where('type', '=', 'app_artifact_lifecycle')
    .where('target_id', '=', digest)
    .where('resolved_at', 'is', null)
    .execute();
}
