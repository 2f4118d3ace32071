import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { TokenRejectedError, verifyAccessToken } from '@gpuaas/control-plane/platform/auth/access-token';
import { Provider } from '@gpuaas/control-plane/platform/auth/provider';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestApi, TEST_PUBLIC_URL, type TestApi } from '../../harness/api.ts';
import {
  AUDIENCE,
  startIdentityProvider,
  visitor,
  type TestIdentityProvider,
} from '../../harness/sign-in/identity-provider.ts';

let idp: TestIdentityProvider;
let api: TestApi;
beforeAll(async () => {
  idp = await startIdentityProvider();
  api = await startApi(idp);
});
afterAll(async () => {
  await api?.stop();
  await idp?.stop();
});

async function startApi(provider: TestIdentityProvider): Promise<TestApi> {
  const { issuer, clientId, clientSecret, cliClientId } = provider;
  return await createTestApi({
    oidc: {
      issuer,
      clientId,
      clientSecret,
      cliClientId,
      audience: AUDIENCE,
      scopes: 'openid email profile',
      redirectUri: `${TEST_PUBLIC_URL}/auth/callback`,
    },
  });
}

async function me(token: string, at: TestApi = api) {
  const answer = await at.server.inject({ url: '/api/v1/me', headers: { authorization: `Bearer ${token}` } });
  return { status: answer.statusCode, body: answer.json<Record<string, unknown>>(), headers: answer.headers };
}

async function expectRefused(token: string, because: RegExp): Promise<void> {
  const { status, body } = await me(token);
  expect(body).toMatchObject({
    status: 401,
    code: 'unauthenticated',
    detail: expect.stringMatching(because),
  });
  expect(status).toBe(401);
}

const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

describe('an access token of the identity provider', () => {
  it('signs a person in, also one the platform has never seen, who gets an organization', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, async () => me(await idp.sign())));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(answers[0]!.body).toMatchObject({
      user: { email: visitor.email, name: visitor.name },
      csrf_token: null,
      organizations: [{ projects: [{ name: 'default' }] }],
    });
    const users = await api.services.db
      .selectFrom('users')
      .selectAll()
      .where('issuer', '=', idp.issuer)
      .execute();
    expect(users).toHaveLength(1);
    const organizations = new Set(answers.map(({ body }) => JSON.stringify(body['organizations'])));
    expect(organizations.size).toBe(1);
  });

  it('is refused when it is older than the end of the person’s sign-ins, or does not say how old it is', async () => {
    const token = await idp.sign({ sub: 'lost-laptop', email: 'lost@example.test', iat: inSeconds(-5) });
    const { body } = await me(token);
    const ended = await api.server.inject({
      method: 'POST',
      url: `/api/v1/admin/people/${(body['user'] as { id: string }).id}/end-sign-ins`,
      headers: { authorization: `Bearer ${api.people['operator']!.apiKey}` },
      payload: { reason: 'a lost laptop' },
    });
    expect(ended.statusCode).toBe(200);
    expect((await me(token)).status).toBe(401);
    expect((await me(await idp.sign({ sub: 'lost-laptop', iat: undefined }))).status).toBe(401);
    expect((await me(await idp.sign({ sub: 'lost-laptop', iat: inSeconds(5) }))).status).toBe(200);
  });

  it('costs no call to the provider once its keys are known', async () => {
    await me(await idp.sign());
    const before = idp.asked.length;
    for (let request = 0; request < 20; request += 1) expect((await me(await idp.sign())).status).toBe(200);
    expect(idp.asked.length).toBe(before);
  });

  it('is refused with another audience, another issuer, or no subject', async () => {
    await expectRefused(await idp.sign({ aud: 'urn:other:api' }), /its aud does not fit/);
    await expectRefused(await idp.sign({ aud: [] }), /its aud does not fit/);
    await expectRefused(await idp.sign({ iss: 'https://evil.example' }), /its issuer is not trusted/);
    await expectRefused(
      await idp.sign({ iss: `${idp.issuer}/` }),
      /its iss does not fit|its issuer is not trusted/,
    );
    await expectRefused(await idp.sign({ sub: undefined }), /its sub does not fit/);
    await expectRefused(await idp.sign({ exp: undefined }), /its exp does not fit/);
    expect((await me(await idp.sign({ aud: ['urn:other:api', AUDIENCE] }))).status).toBe(200);
  });

  it('is not an ID token, a logout token, or one that is bound to a key', async () => {
    await expectRefused(await idp.sign({ aud: idp.clientId }, { typ: 'JWT' }), /its aud does not fit/);
    await expectRefused(await idp.sign({ at_hash: 'x' }, { typ: 'JWT' }), /not an access token/);
    await expectRefused(await idp.sign({ token_use: 'id' }, { typ: 'JWT' }), /not an access token/);
    await expectRefused(await idp.sign({ typ: 'ID' }, { typ: 'JWT' }), /not an access token/);
    await expectRefused(await idp.sign({ typ: 'Refresh' }, { typ: 'JWT' }), /not an access token/);
    await expectRefused(await idp.sign({}, { typ: 'logout+jwt' }), /not an access token/);
    await expectRefused(await idp.sign({ events: {} }, { typ: 'JWT' }), /not an access token/);
    await expectRefused(await idp.sign({ cnf: { jkt: 'x' } }), /bound to a key/);
    expect((await me(await idp.sign({ typ: 'Bearer' }, { typ: 'JWT' }))).status).toBe(200);
  });

  it('expires, and the clock of the provider may be off by a minute and not by five', async () => {
    expect((await me(await idp.sign({ exp: inSeconds(-30) }))).status).toBe(200);
    await expectRefused(await idp.sign({ exp: inSeconds(-90) }), /it has expired/);
    await expectRefused(await idp.sign({ exp: inSeconds(-300) }), /it has expired/);
    expect((await me(await idp.sign({ nbf: inSeconds(30), iat: inSeconds(30) }))).status).toBe(200);
    await expectRefused(await idp.sign({ nbf: inSeconds(300) }), /its nbf does not fit/);
    await expectRefused(await idp.sign({ iat: inSeconds(300), exp: inSeconds(600) }), /issued in the future/);
  });
});

describe('a forged token', () => {
  const claims = (): Record<string, unknown> => ({
    iss: idp.issuer,
    aud: AUDIENCE,
    sub: visitor.sub,
    iat: inSeconds(0),
    exp: inSeconds(300),
  });

  it('without a signature is refused, however none is spelled', async () => {
    await expectRefused(new UnsecuredJWT(claims()).encode(), /algorithm|cannot be read/);
    const [, payload] = (await idp.sign()).split('.');
    for (const alg of ['none', 'None', 'NONE', 'nOnE', '']) {
      const header = Buffer.from(JSON.stringify({ alg, typ: 'at+jwt' })).toString('base64url');
      await expectRefused(`${header}.${payload}.`, /algorithm|cannot be read/);
    }
  });

  it('signed by HMAC with what is public of the key is refused', async () => {
    const jwk = await idp.publicKey();
    const pem = createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    for (const secret of [
      Buffer.from(pem),
      Buffer.from(JSON.stringify(jwk)),
      Buffer.from(jwk.x!, 'base64url'),
      Buffer.from(jwk.kid!),
    ]) {
      for (const alg of ['HS256', 'HS384', 'HS512']) {
        const padded = Buffer.concat([secret, Buffer.alloc(Math.max(0, 64 - secret.length))]);
        for (const key of [secret, padded]) {
          const forged = await new SignJWT(claims())
            .setProtectedHeader({ alg, typ: 'at+jwt', kid: jwk.kid! })
            .sign(key);
          await expectRefused(forged, /algorithm/);
        }
      }
    }
  });

  it('that brings its own key, or names another, is refused', async () => {
    const own = await generateKeyPair('ES256', { extractable: true });
    const jwk = await exportJWK(own.publicKey);
    const kid = (await idp.publicKey()).kid!;
    for (const header of [
      { kid },
      { kid, jwk },
      { jwk },
      { kid: '../../dev/null' },
      { jku: 'https://evil.example/jwks' },
    ]) {
      const forged = await new SignJWT(claims())
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', ...header })
        .sign(own.privateKey);
      await expectRefused(forged, /its signature is wrong|its key is not known/);
    }
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const other = await new SignJWT(claims())
      .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid })
      .sign(rsa.privateKey);
    await expectRefused(other, /its key is not known/);
  });

  it('with a changed claim, or cut, is refused', async () => {
    const token = await idp.sign();
    const [header, payload, signature] = token.split('.') as [string, string, string];
    const changed = {
      ...(JSON.parse(Buffer.from(payload, 'base64url').toString()) as object),
      sub: 'operator',
    };
    const forged = Buffer.from(JSON.stringify(changed)).toString('base64url');
    await expectRefused(`${header}.${forged}.${signature}`, /its signature is wrong/);
    await expectRefused(`${header}.${payload}.`, /its signature is wrong|cannot be read/);
    await expectRefused(
      `${header}.${payload}.${signature.slice(0, -4)}`,
      /its signature is wrong|cannot be read/,
    );
    await expectRefused('a.b.c', /cannot be read/);
  });
});

describe('keys of the provider', () => {
  it('are not asked for again and again by tokens that name none of them', async () => {
    await me(await idp.sign());
    const before = idp.asked.filter((path) => path === '/jwks').length;
    await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        expect((await me(await idp.sign({}, { kid: `garbage-${index}` }))).status).toBe(401);
      }),
    );
    expect(idp.asked.filter((path) => path === '/jwks').length - before).toBeLessThanOrEqual(1);
  });

  it('that cannot be had make the answer 503 and not a refusal', async () => {
    const provider = await startIdentityProvider();
    const own = await startApi(provider);
    try {
      await provider.goDown();
      const token = await provider.sign();
      const answer = await me(token, own);
      expect(answer).toMatchObject({ status: 503, body: { code: 'identity_provider_unavailable' } });
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      await provider.comeBack();
      await expect
        .poll(async () => (await me(token, own)).status, { timeout: 60_000, interval: 500 })
        .toBe(200);
    } finally {
      await own.stop();
      await provider.stop();
    }
  });
});

describe('over time', () => {
  const MINUTE = 60_000;
  let world: { time: number; provider: TestIdentityProvider };
  let provider: Provider;
  beforeEach(async () => {
    world = { time: 0, provider: await startIdentityProvider() };
    provider = new Provider({ issuer: world.provider.issuer, now: () => world.time });
  });
  afterEach(() => world.provider.stop());

  const verify = (token: string, clockSkewSeconds = 60) =>
    verifyAccessToken(token, provider, { audience: AUDIENCE, now: new Date(), clockSkewSeconds });

  it('a rotated key is found by the first token that names it, and the old one ends with its set', async () => {
    const old = await world.provider.sign();
    await verify(old);
    await world.provider.rotateKeys();
    const fresh = await world.provider.sign();
    // Keys were fetched a moment ago; garbage must not trigger another fetch immediately.
    await expect(verify(fresh)).rejects.toThrow(/its key is not known/);
    world.time += MINUTE;
    await verify(fresh);
    await expect(verify(old)).rejects.toThrow(/its key is not known/);
  });

  it('keys are fetched every five minutes, and not in between', async () => {
    const token = await world.provider.sign();
    const fetches = (): number => world.provider.asked.filter((path) => path === '/jwks').length;
    for (const [minute, expected] of [
      [0, 1],
      [4, 1],
      [5, 2],
      [9, 2],
      [10, 3],
    ] as const) {
      world.time = minute * MINUTE;
      await verify(token);
      expect(fetches()).toBe(expected);
    }
  });

  it('the last known keys serve for an hour while the provider is down', async () => {
    const token = await world.provider.sign();
    await verify(token);
    await world.provider.goDown();
    world.time = 59 * MINUTE;
    await verify(token);
    await expect(verify(await world.provider.sign({}, { kid: 'unknown' }))).rejects.toMatchObject({
      code: 'identity_provider_unavailable',
    });
    world.time = 60 * MINUTE;
    await expect(verify(token)).rejects.toMatchObject({ code: 'identity_provider_unavailable' });
    await world.provider.comeBack();
    world.time += MINUTE;
    await verify(token);
  });

  it('a clock that is off by five minutes is tolerated exactly where that is declared', async () => {
    const { sign } = world.provider;
    const slow = await sign({ exp: inSeconds(-290) });
    const fast = await sign({ nbf: inSeconds(290), iat: inSeconds(290), exp: inSeconds(900) });
    for (const token of [slow, fast]) {
      await verify(token, 300);
      await expect(verify(token, 60)).rejects.toThrow(TokenRejectedError);
    }
    await expect(verify(await sign({ exp: inSeconds(-330) }), 300)).rejects.toThrow(/expired/);
    await expect(verify(await sign({ nbf: inSeconds(330) }), 300)).rejects.toThrow(/nbf/);
  });
});
