import { createCipheriv, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { fixedKeys } from './key-file.ts';
import { Sealer } from './seal.ts';

describe('sealed secrets', () => {
  const first = randomBytes(32);
  const sealer = new Sealer(fixedKeys(first));

  it('open only with the same key, purpose and context', () => {
    const sealed = sealer.seal('access_key', 'a private key', 'allocation-1');
    expect(sealed.toString('latin1')).not.toContain('private');
    expect(sealer.open('access_key', sealed, 'allocation-1')).toBe('a private key');
    expect(() => sealer.open('access_key', sealed, 'allocation-2')).toThrow();
    expect(() => sealer.open('user_data', sealed, 'allocation-1')).toThrow();
    const other = new Sealer(fixedKeys(randomBytes(32)));
    expect(() => other.open('access_key', sealed, 'allocation-1')).toThrow();
  });

  it('detect a changed byte, also in the version', () => {
    const sealed = sealer.seal('id_token', 'secret', 'x');
    for (const at of [0, 1, sealed.length - 1]) {
      const changed = Buffer.from(sealed);
      changed[at]! ^= 1;
      expect(() => sealer.open('id_token', changed, 'x')).toThrow();
    }
  });

  it('carry their key version; the newest seals and all open', () => {
    const second = new Sealer(fixedKeys(first, randomBytes(32)));
    const [old, young] = [sealer.seal('id_token', 'old', 'x'), second.seal('id_token', 'young', 'x')];
    expect([old[0], young[0]]).toEqual([1, 2]);
    expect([second.open('id_token', old, 'x'), second.open('id_token', young, 'x')]).toEqual([
      'old',
      'young',
    ]);
    expect([second.isCurrent('id_token', old, 'x'), second.isCurrent('id_token', young, 'x')]).toEqual([
      false,
      true,
    ]);
  });

  it('from before there were versions open, with any first byte', () => {
    for (let begin = 0; begin < 256; begin += 1) {
      const sealed = sealedBefore(first, 'legacy', 'x', begin);
      expect(sealer.open('id_token', sealed, 'x')).toBe('legacy');
      expect(sealer.isCurrent('id_token', sealed, 'x')).toBe(false);
    }
  });
});

/** Sealed as by releases without versions: with the platform key itself, and no purpose. */
function sealedBefore(key: Buffer, plain: string, context: string, begin: number): Buffer {
  const iv = Buffer.concat([Buffer.of(begin), randomBytes(11)]);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
}
