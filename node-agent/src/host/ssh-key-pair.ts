import { createHash } from 'node:crypto';
import ssh2 from 'ssh2';

/**
 * An Ed25519 pair in OpenSSH's format. About one in 256 that the library makes cannot be read again, because it
 * drops a leading zero byte of the public half; such a pair is thrown away.
 */
export function newSshKeyPair(): { private: string; public: string } {
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519');
    const readable = [pair.private, pair.public].every(
      (half) => !(ssh2.utils.parseKey(half) instanceof Error),
    );
    if (readable) return pair;
  }
}

/** As OpenSSH prints it: `SHA256:` and base64 without padding. */
export function fingerprintOf(key: string): string {
  const digest = createHash('sha256').update(publicBlob(key)).digest('base64');
  return `SHA256:${digest.replace(/=+$/, '')}`;
}

/** The public half as it goes over the wire. */
export function publicBlob(key: string): Buffer {
  const parsed = ssh2.utils.parseKey(key);
  if (parsed instanceof Error) throw parsed;
  return parsed.getPublicSSH();
}
