import ssh2 from 'ssh2';

/**
 * An Ed25519 pair in OpenSSH's format. About one in 256 pairs from the library cannot be read again, because
 * it drops a leading zero byte of the public half; such a pair is discarded.
 */
export function newSshKeyPair(comment: string): { private: string; public: string } {
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519', { comment });
    const readable = [pair.private, pair.public].every(
      (half) => !(ssh2.utils.parseKey(half) instanceof Error),
    );
    if (readable) return pair;
  }
}
