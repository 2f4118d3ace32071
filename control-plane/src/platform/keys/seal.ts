import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { KeyVersions } from './key-file.ts';

const ALGORITHM = 'aes-256-gcm';

/** Purpose of a sealed value. Each has its own derived key, so that one value cannot replace another. */
export type SealPurpose =
  | 'access_key'
  | 'app_cookie'
  | 'app_member_secrets'
  | 'app_instance_token'
  | 'certificate_key'
  | 'client_secret'
  | 'enrolment_token'
  | 'id_token'
  | 'node_authority'
  | 'platform_key'
  | 'project_secret'
  | 'stream_token'
  | 'terminal_recording'
  | 'user_data'
  | 'webhook_secret';

/**
 * Encrypts small secrets under the platform key, which is stored outside the database. A sealed value begins
 * with the version of the key; one from before there were versions is sealed with the first key itself.
 */
export class Sealer {
  readonly #keys: KeyVersions;
  readonly #derived = new Map<string, Buffer>();

  constructor(keys: KeyVersions) {
    this.#keys = keys;
  }

  /** `context` ties the sealed bytes to their row; opening under another one fails. */
  seal(purpose: SealPurpose, plain: string, context: string): Buffer {
    const { version, key } = this.#keys.newest();
    const iv = randomBytes(12);
    const cipher = createCipheriv(ALGORITHM, this.#derive(key, purpose), iv).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
    return Buffer.concat([Buffer.of(version), iv, cipher.getAuthTag(), sealed]);
  }

  open(purpose: SealPurpose, sealed: Buffer, context: string): string {
    const opened = this.#openVersioned(purpose, sealed, context);
    if (opened !== null) return opened;
    const first = this.#keys.find(1);
    if (!first) throw new Error('it was sealed with a platform key that is not here');
    return decrypt(first, sealed, context);
  }

  /** Whether it is sealed in the current form. */
  isCurrent(purpose: SealPurpose, sealed: Buffer, context: string): boolean {
    return (
      sealed[0] === this.#keys.newest().version && this.#openVersioned(purpose, sealed, context) !== null
    );
  }

  #openVersioned(purpose: SealPurpose, sealed: Buffer, context: string): string | null {
    const key = this.#keys.find(sealed[0] ?? 0);
    if (!key) return null;
    try {
      return decrypt(this.#derive(key, purpose), sealed.subarray(1), context);
    } catch {
      return null;
    }
  }

  #derive(key: Buffer, purpose: SealPurpose): Buffer {
    const name = `${purpose} ${key.toString('base64')}`;
    const known = this.#derived.get(name);
    if (known) return known;
    const derived = Buffer.from(hkdfSync('sha256', key, '', `gpuaas seal ${purpose}`, 32));
    this.#derived.set(name, derived);
    return derived;
  }
}

function decrypt(key: Buffer, sealed: Buffer, context: string): string {
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, 12))
    .setAAD(Buffer.from(context))
    .setAuthTag(sealed.subarray(12, 28));
  return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString('utf8');
}
