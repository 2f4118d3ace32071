import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Sealer } from './seal.ts';

describe('sealed secrets', () => {
  const sealer = new Sealer(randomBytes(32));

  it('open only with the same key and context', () => {
    const sealed = sealer.seal('a private key', 'allocation-1');
    expect(sealed.toString('latin1')).not.toContain('private');
    expect(sealer.open(sealed, 'allocation-1')).toBe('a private key');
    expect(() => sealer.open(sealed, 'allocation-2')).toThrow();
    expect(() => new Sealer(randomBytes(32)).open(sealed, 'allocation-1')).toThrow();
  });

  it('notice a changed byte', () => {
    const sealed = sealer.seal('secret', 'x');
    sealed[sealed.length - 1]! ^= 1;
    expect(() => sealer.open(sealed, 'x')).toThrow();
  });
});
