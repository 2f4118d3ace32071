import type { IncomingMessage } from 'node:http';
import { AppRefusal } from '../../web/app-refusal.ts';
import { isSameSecret } from '../../web/same-secret.ts';

/** Where the app was started with a key; behind the gateway it needs none. */
export function checkKey({ headers }: IncomingMessage, key: string | undefined): void {
  if (!key) return;
  const given = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
  if (!isSameSecret(given, key))
    throw new AppRefusal(401, 'invalid_api_key', 'The API key is missing or wrong.');
}
