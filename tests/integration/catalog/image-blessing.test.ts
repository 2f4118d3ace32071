import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signImageStatement, type ImageStatement } from '@gpuaas/contracts/image-statement';
import { createTestApi, type TestApi } from '../../harness/api.ts';

const IMAGE = 'H200-ubuntu-24.04-gpuaas-slice';
const DIGEST = `sha256:${'ab'.repeat(32)}`;
const builder = generateKeyPairSync('ed25519');
const stranger = generateKeyPairSync('ed25519');

let api: TestApi;
let statement: ImageStatement;
beforeAll(async () => {
  api = await createTestApi();
  const { kind, readiness_checks } = await api.services.db
    .selectFrom('images')
    .selectAll()
    .where('image', '=', IMAGE)
    .executeTakeFirstOrThrow();
  statement = {
    version: 1,
    image: IMAGE,
    kind,
    digest: DIGEST,
    bytes: 1_000,
    readiness_checks,
    recipe_sha256: 'cd'.repeat(32),
    snapshot: '20240425T000000Z',
    packages: [{ name: 'cloud-init', version: '24.1' }],
  };
});
afterAll(() => api?.stop());

async function ask(person: string, method: 'POST' | 'PUT', url: string, payload: object) {
  const headers = { authorization: `Bearer ${api.people[person]!.apiKey}` };
  const answer = await api.server.inject({ method, url, headers, payload });
  const { code = null, digest = null } = answer.json<{ code?: string; digest?: string }>();
  return { status: answer.statusCode, code, digest };
}

const bless = (more: object = {}, person = 'operator') =>
  ask(person, 'POST', `/api/v1/admin/images/${IMAGE}/bless`, {
    digest: DIGEST,
    reason: 'Built today.',
    ...more,
  });
const setPolicy = async (name: string, value: unknown) => {
  const answer = await ask('operator', 'PUT', `/api/v1/admin/policies/${name}`, {
    value,
    reason: 'For tests.',
  });
  expect(answer.status).toBe(200);
};
const signed = (change: Partial<ImageStatement> = {}, key = builder.privateKey) => ({
  signed_statement: signImageStatement({ ...statement, ...change }, key),
});

describe('blessing a digest', () => {
  it('takes the permission, and where policy says so a signature as well', async () => {
    expect(await bless({}, 'member')).toMatchObject({ status: 403 });
    expect(await bless()).toMatchObject({ status: 200, digest: DIGEST });
    await setPolicy('images.blessing_needs', 'signature');
    expect(await bless()).toMatchObject({ status: 409, code: 'image_signature_required' });
  });

  it('takes a statement of a trusted builder about exactly this', async () => {
    expect(await bless(signed())).toMatchObject({ status: 422, code: 'image_statement_refused' });
    const { x } = builder.publicKey.export({ format: 'jwk' });
    await setPolicy('images.trusted_keys', [x]);
    for (const wrong of [
      signed({}, stranger.privateKey),
      signed({ digest: `sha256:${'ef'.repeat(32)}` }),
      signed({ image: 'H200-ubuntu-24.04-cuda-13-gpuaas-slice' }),
      signed({ kind: 'cuda-dev' }),
      { signed_statement: { ...signed().signed_statement, statement: { ...statement, bytes: 2_000 } } },
      // The key's name alone proves nothing.
      {
        signed_statement: {
          ...signed({}, stranger.privateKey).signed_statement,
          key_id: signed().signed_statement.key_id,
        },
      },
    ]) {
      expect(await bless(wrong)).toMatchObject({ status: 422, code: 'image_statement_refused' });
    }
    expect(
      await bless(signed({ readiness_checks: [...statement.readiness_checks, 'cuda_toolkit'] })),
    ).toMatchObject({
      status: 200,
    });
    expect(await bless(signed())).toMatchObject({ status: 200, digest: DIGEST });
  });

  it('refuses a builder that does not promise what the image must show, and keeps who signed', async () => {
    const db = api.services.db;
    await db
      .updateTable('images')
      .set({ readiness_checks: ['nvidia_driver'] })
      .where('image', '=', IMAGE)
      .execute();
    expect(await bless(signed({ readiness_checks: [] }))).toMatchObject({ code: 'image_statement_refused' });
    const kept = await db
      .selectFrom('image_blessings')
      .select(['signed_by', 'digest'])
      .where('image', '=', IMAGE)
      .where('signed_by', 'is not', null)
      .execute();
    expect(kept).toHaveLength(2);
    expect(new Set(kept.map(({ signed_by }) => signed_by))).toEqual(
      new Set([signed().signed_statement.key_id]),
    );
  });
});
