import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import ssh2 from 'ssh2';
import { expect, test } from 'vitest';
import { parsePublicKey, InvalidPublicKeyError } from './parse-public-key.ts';

/** First line of a private key in OpenSSL's older format. */
function opensshLine(pem: string | Buffer): string {
  const key = ssh2.utils.parseKey(pem);
  if (key instanceof Error) throw key;
  return `${key.type} ${key.getPublicSSH().toString('base64')}`;
}

const rsa = (modulusLength: number) =>
  opensshLine(
    generateKeyPairSync('rsa', { modulusLength }).privateKey.export({ type: 'pkcs1', format: 'pem' }),
  );
const ec = (namedCurve: string) =>
  opensshLine(generateKeyPairSync('ec', { namedCurve }).privateKey.export({ type: 'sec1', format: 'pem' }));
const privateKey = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
const ED25519 = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGtDh2nZ9lMhZQqyMMUXQ5SZjvY6s0Yd0q6f0XcV8bqB';

test('keys of the usual types are accepted, with the fingerprint that ssh-keygen shows', (ctx) => {
  const keys = [ED25519, rsa(2048), rsa(4096), ec('P-256'), ec('P-384'), ec('P-521')];
  const parsed = keys.map((line) => parsePublicKey(`${line} somebody@somewhere\n`));
  expect(parsed.map((key) => key.line)).toEqual(keys);
  const folder = mkdtempSync(join(tmpdir(), 'ssh-keys-'));
  try {
    execFileSync('ssh-keygen', ['-?'], { stdio: 'ignore' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') ctx.skip('needs ssh-keygen');
  }
  try {
    for (const { line, fingerprint } of parsed) {
      const file = join(folder, 'key.pub');
      writeFileSync(file, `${line}\n`);
      expect(execFileSync('ssh-keygen', ['-lf', file], { encoding: 'utf8' })).toContain(fingerprint);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.each([
  ['options before the type', `command="rm -rf /" ${ED25519}`],
  ['two lines', `${ED25519}\n${ED25519}`],
  ['a carriage return', `${ED25519}\rno-pty`],
  ['a NUL', `${ED25519}\0`],
  ['an old type', 'ssh-dss AAAAB3NzaC1kc3M='],
  ['a short RSA key', rsa(1024)],
  ['a cut key', ED25519.slice(0, -8)],
  [
    'something after the key',
    `ssh-ed25519 ${Buffer.concat([Buffer.from(ED25519.split(' ')[1]!, 'base64'), Buffer.from('x')]).toString('base64')}`,
  ],
  ['another type inside', ED25519.replace('ssh-ed25519', 'ssh-rsa')],
  ['base64 that is not canonical', `${ED25519}=`],
  ['a private key', String(privateKey)],
  ['nothing', '   '],
  ['the name of a property of every object', 'constructor AAAA'],
])('%s is refused', (_what, text) => {
  expect(() => parsePublicKey(text)).toThrow(InvalidPublicKeyError);
});

test('a point that is not on the curve is refused', () => {
  const [type, base64] = ec('P-256').split(' ');
  const blob = Buffer.from(base64!, 'base64');
  blob[blob.length - 1]! ^= 1;
  expect(() => parsePublicKey(`${type} ${blob.toString('base64')}`)).toThrow('not a point');
});

test('any bytes are accepted or refused with a reason', () => {
  const [type, base64] = ED25519.split(' ');
  const mutated = fc.tuple(fc.nat(50), fc.integer({ min: 0, max: 255 })).map(([at, byte]) => {
    const blob = Buffer.from(base64!, 'base64');
    blob[at % blob.length] = byte;
    return `${type} ${blob.toString('base64')}`;
  });
  fc.assert(
    fc.property(fc.oneof(mutated, fc.string(), fc.string({ unit: 'binary' })), (text) => {
      try {
        expect(parsePublicKey(text).line).toMatch(/^\S+ \S+$/);
      } catch (error) {
        expect(error).toBeInstanceOf(InvalidPublicKeyError);
      }
    }),
    { numRuns: 500 },
  );
});
