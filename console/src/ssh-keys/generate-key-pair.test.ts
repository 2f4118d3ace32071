import { createPublicKey, sign, verify, createPrivateKey } from 'node:crypto';
import { expect, test } from 'vitest';
import { generateKeyPair } from './generate-key-pair.ts';

/** Reads the length-prefixed fields of an SSH structure. */
function reader(bytes: Buffer, start = 0) {
  let at = start;
  const take = (length: number) => bytes.subarray(at, (at += length));
  return { take, number: () => take(4).readUInt32BE(), field: () => take(take(4).readUInt32BE()) };
}

test('the private file holds the key whose public half goes to the platform', async () => {
  const { publicKey, privateKey } = await generateKeyPair('me@laptop');
  const [type, blob, comment] = publicKey.split(' ');
  expect([type, comment]).toEqual(['ssh-ed25519', 'me@laptop']);

  const file = Buffer.from(privateKey.replaceAll(/-----.*-----|\n/g, ''), 'base64');
  expect(file.subarray(0, 15).toString()).toBe('openssh-key-v1\0');
  const outer = reader(file, 15);
  expect([outer.field().toString(), outer.field().toString(), outer.field().length]).toEqual([
    'none',
    'none',
    0,
  ]);
  expect(outer.number()).toBe(1);
  expect(outer.field().toString('base64')).toBe(blob);

  const secret = outer.field();
  expect(secret.length % 8).toBe(0);
  const inner = reader(secret);
  expect(inner.number()).toBe(inner.number());
  expect(inner.field().toString()).toBe('ssh-ed25519');
  const point = inner.field();
  const pair = inner.field();
  expect(pair.subarray(32)).toEqual(point);
  expect(inner.field().toString()).toBe('me@laptop');

  const x = point.toString('base64url');
  const d = pair.subarray(0, 32).toString('base64url');
  const signer = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x }, format: 'jwk' });
  const checker = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const message = Buffer.from('hello');
  expect(verify(null, message, checker, sign(null, message, signer))).toBe(true);
});
