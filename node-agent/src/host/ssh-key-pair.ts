import { createHash } from 'node:crypto';
import ssh2 from 'ssh2';

/**
 * An Ed25519 pair in OpenSSH's format. About one in 256 pairs from the library cannot be read again, because
 * it drops a leading zero byte of the public half; such a pair is discarded.
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

export interface HostKeyFacts {
  /** As OpenSSH prints it: `SHA256:` and base64 without padding. */
  host_key_fingerprint: string;
  /** In the format of `known_hosts`: type and base64. */
  host_public_key: string;
}

export function hostKeyFacts(key: string): HostKeyFacts {
  const blob = publicBlob(key);
  const digest = createHash('sha256').update(blob).digest('base64');
  // The wire form starts with the length of the type and the type.
  const type = blob.subarray(4, 4 + blob.readUInt32BE(0)).toString('latin1');
  return {
    host_key_fingerprint: `SHA256:${digest.replace(/=+$/, '')}`,
    host_public_key: `${type} ${blob.toString('base64')}`,
  };
}

/** The public half as it goes over the wire. */
export function publicBlob(key: string): Buffer {
  const parsed = ssh2.utils.parseKey(key);
  if (parsed instanceof Error) throw parsed;
  return parsed.getPublicSSH();
}
