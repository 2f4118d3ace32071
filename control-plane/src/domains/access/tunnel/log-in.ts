import { createHash, timingSafeEqual } from 'node:crypto';
import type { Duplex } from 'node:stream';
import ssh2, { type Client } from 'ssh2';
import { GuestUnreachableError } from './guest-unreachable.ts';

export interface Login {
  username: string;
  privateKey: string;
  /** Of the key that the node reported when it created the machine. */
  host_key_fingerprint: string;
}

const READY_TIMEOUT_MS = 15_000;

/** An SSH client over a stream to the machine's SSH port; the stream ends with it. */
export async function logIn(stream: Duplex, login: Login): Promise<Client> {
  const client = new ssh2.Client();
  return await new Promise((resolve, reject) => {
    client.on('error', (error) => {
      stream.destroy();
      reject(new GuestUnreachableError(error.message, { cause: error }));
    });
    client.on('close', () => {
      stream.destroy();
      reject(new GuestUnreachableError('the machine closed the connection'));
    });
    client.on('ready', () => resolve(client));
    client.connect({
      sock: stream,
      username: login.username,
      privateKey: login.privateKey,
      readyTimeout: READY_TIMEOUT_MS,
      keepaliveInterval: 15_000,
      hostVerifier: (key: Buffer) => matchesFingerprint(key, login.host_key_fingerprint),
    });
  });
}

function matchesFingerprint(key: Buffer, fingerprint: string): boolean {
  const seen = Buffer.from(`SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`);
  const expected = Buffer.from(fingerprint);
  return seen.length === expected.length && timingSafeEqual(seen, expected);
}
