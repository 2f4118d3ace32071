import type { IncomingMessage, ServerResponse } from 'node:http';
import { Provider } from 'oidc-provider';
import type { DevIdpClients } from './clients.ts';
import { providerConfiguration } from './configuration.ts';
import { stripMountPath } from './mount.ts';
import type { DevPerson } from './dev-people.ts';
import { createSignIn } from './sign-in.ts';
import { readOrCreateSigningKeys } from './signing-keys.ts';

export { API_AUDIENCE, API_SCOPE, CLI_CLIENT_ID, CONSOLE_CLIENT_ID } from './clients.ts';
export type { DevIdpClients } from './clients.ts';
export type { DevPerson } from './dev-people.ts';

export type DevIdpOptions = {
  /** Such as `http://127.0.0.1:8080/idp`; `handle` is mounted at its path. */
  issuer: string;
  people: DevPerson[];
  /** Folder of the private signing keys. */
  keyFile: string;
  clients: DevIdpClients;
};

export type DevIdp = {
  /** Answers a request whose URL starts with the issuer's path. The body must not have been read. */
  handle(req: IncomingMessage, res: ServerResponse): void;
  issuer: string;
};

/** An OpenID provider with a fixed list of people whose passwords are public. */
export async function createDevIdp({ issuer, people, keyFile, clients }: DevIdpOptions): Promise<DevIdp> {
  const issuerUrl = new URL(issuer);
  const mountPath = issuerUrl.pathname.replace(/\/$/, '');
  const keys = await readOrCreateSigningKeys(keyFile);
  const provider = new Provider(issuer, providerConfiguration({ mountPath, people, clients, keys }));
  // Safe because stripMountPath overwrites the forwarded headers.
  provider.proxy = true;
  const consoleOrigin = new URL(clients.consoleRedirectUri).origin;
  const signIn = createSignIn({ provider, people, mountPath, consoleOrigin });
  const answer = provider.callback();

  const handle = (req: IncomingMessage, res: ServerResponse): void => {
    if (!stripMountPath(req, issuerUrl, mountPath)) {
      res.writeHead(404).end();
      return;
    }
    const handler = req.url?.startsWith('/interaction/') ? signIn : answer;
    handler(req, res).catch(() => res.destroy());
  };
  return { handle, issuer };
}
