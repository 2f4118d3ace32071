import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createDevIdp,
  CLI_CLIENT_ID,
  CONSOLE_CLIENT_ID,
  type DevIdp,
  type DevPerson,
} from '@gpuaas/control-plane/platform/auth/dev-idp/dev-idp';
import { importJWK, SignJWT, type JWK, type JWTHeaderParameters } from 'jose';

export const AUDIENCE = 'urn:gpuaas:api';

export interface TestIdentityProvider {
  issuer: string;
  clientId: string;
  clientSecret: string;
  cliClientId: string;
  /** The paths that were asked for, below the issuer. */
  asked: string[];
  /** An access token issued by the provider, with changes for the test. */
  sign(claims?: Record<string, unknown>, header?: Partial<JWTHeaderParameters>): Promise<string>;
  publicKey(): Promise<JWK>;
  rotateKeys(): Promise<void>;
  /** Where its console client is sent back to from now on. */
  sendBackTo(redirectUri: string): Promise<void>;
  goDown(): Promise<void>;
  comeBack(): Promise<void>;
  stop(): Promise<void>;
}

export const visitor: DevPerson = {
  sub: 'visitor',
  email: 'visitor@example.test',
  name: 'Some Visitor',
  password: 'visitor-password',
};

/** A real OpenID provider on its own port. */
export async function startIdentityProvider(
  options: { redirectUri?: string; people?: DevPerson[] } = {},
): Promise<TestIdentityProvider> {
  const folder = await mkdtemp(join(tmpdir(), 'gpuaas-test-idp-'));
  const keyFile = join(folder, 'keys.json');
  const clientSecret = 'secret-of-the-console-at-the-provider';
  const asked: string[] = [];
  let redirectUri = options.redirectUri ?? 'http://127.0.0.1:1/auth/callback';
  let server: Server;
  let idp: DevIdp;
  const listen = async (port: number): Promise<number> => {
    server = createServer((request, response) => {
      asked.push(request.url!.replace(/^\/idp/, '').split('?')[0]!);
      idp.handle(request, response);
    }).listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  const port = await listen(0);
  const issuer = `http://127.0.0.1:${port}/idp`;
  const make = (): Promise<DevIdp> =>
    createDevIdp({
      issuer,
      people: options.people ?? [visitor],
      keyFile,
      clients: {
        consoleRedirectUri: redirectUri,
        consoleClientSecret: clientSecret,
      },
    });
  const privateKey = async (): Promise<JWK> =>
    (JSON.parse(await readFile(keyFile, 'utf8')) as { keys: JWK[] }).keys[0]!;
  idp = await make();
  return {
    issuer,
    clientId: CONSOLE_CLIENT_ID,
    clientSecret,
    cliClientId: CLI_CLIENT_ID,
    asked,
    async sign(claims = {}, header = {}) {
      const key = await privateKey();
      const now = Math.floor(Date.now() / 1000);
      const { sub, email, name } = visitor;
      return await new SignJWT({
        iss: issuer,
        aud: AUDIENCE,
        sub,
        email,
        email_verified: true,
        name,
        iat: now,
        exp: now + 300,
        ...claims,
      })
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: key.kid!, ...header })
        .sign(await importJWK(key, 'ES256'));
    },
    async publicKey() {
      const { d: _private, ...open } = await privateKey();
      return open;
    },
    async rotateKeys() {
      await rm(keyFile);
      idp = await make();
    },
    async sendBackTo(uri) {
      redirectUri = uri;
      idp = await make();
    },
    goDown: close,
    async comeBack() {
      await listen(port);
    },
    async stop() {
      if (server.listening) await close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
