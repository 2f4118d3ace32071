export interface SshKeyPair {
  /** One line for `authorized_keys`. */
  publicKey: string;
  /** The file for `ssh -i`, without a passphrase. */
  privateKey: string;
}

const TYPE = 'ssh-ed25519';
/** The PKCS #8 form of an Ed25519 key ends with its 32-byte seed. */
const SEED_BYTES = 32;

/** Creates a key pair in the browser, so that the private half never leaves it. */
export async function generateKeyPair(comment: string): Promise<SshKeyPair> {
  const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
  const point = new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey));
  const wrapped = new Uint8Array(await crypto.subtle.exportKey('pkcs8', pair.privateKey));
  const seed = wrapped.slice(-SEED_BYTES);
  const blob = join(text(TYPE), field(point));
  return {
    publicKey: `${TYPE} ${base64(blob)} ${comment}`,
    privateKey: openSshFile(blob, point, seed, comment),
  };
}

/** The `openssh-key-v1` file that `ssh-keygen` writes, unencrypted. */
function openSshFile(blob: Uint8Array, point: Uint8Array, seed: Uint8Array, comment: string): string {
  const check = crypto.getRandomValues(new Uint8Array(4));
  const secret = join(check, check, text(TYPE), field(point), field(join(seed, point)), text(comment));
  const padding = Uint8Array.from({ length: (8 - (secret.length % 8)) % 8 }, (_, index) => index + 1);
  const file = join(
    new TextEncoder().encode('openssh-key-v1\0'),
    text('none'),
    text('none'),
    text(''),
    number(1),
    field(blob),
    field(join(secret, padding)),
  );
  const lines = base64(file).match(/.{1,70}/g) ?? [];
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join(
    '\n',
  );
}

function number(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

function field(bytes: Uint8Array): Uint8Array {
  return join(number(bytes.length), bytes);
}

function text(value: string): Uint8Array {
  return field(new TextEncoder().encode(value));
}

function join(...parts: Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
