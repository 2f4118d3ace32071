import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signCanonical } from './signing.ts';
import {
  CHAIN_GENESIS,
  certificateKeyId,
  checkCertificate,
  checkChain,
  hashWipeStatement,
  type PublishedKey,
  type SignedWipeCertificate,
  type WipeStatement,
} from './wipe-certificate.ts';

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

function makeKey(createdAt: string, retiredAt: string | null) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const published: PublishedKey = {
    key_id: certificateKeyId(publicKey),
    algorithm: 'Ed25519',
    public_key_pem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    created_at: createdAt,
    retired_at: retiredAt,
  };
  return { privateKey, published };
}

const older = makeKey(at(0), at(10));
const newer = makeKey(at(10), null);
const keys = [newer.published, older.published];

function issue(
  sequence: number,
  previous_hash: string,
  key: typeof older,
  second: number,
): SignedWipeCertificate {
  const id = '01890000-0000-7000-8000-000000000000';
  const certificate: WipeStatement = {
    format: 'gpuaas.wipe-certificate/1',
    sequence,
    certificate_id: id,
    resource_name: 'core42:aicloud:r:o:p:allocation:a',
    organization_id: id,
    project_id: id,
    allocation_id: id,
    slot_id: id,
    slot_index: sequence,
    device_serial: `S6CKN0T${sequence}`,
    method: 'blkdiscard',
    verified: true,
    verification: 'read back as zeros',
    proven_by: 'host',
    tools: [{ name: 'blkdiscard', version: '2.41' }],
    started_at: at(second),
    finished_at: at(second),
    recorded_at: at(second),
    issued_at: at(second),
    previous_hash,
    key_id: key.published.key_id,
  };
  return { certificate, signature: signCanonical(certificate, key.privateKey) };
}

const first = issue(1, CHAIN_GENESIS, older, 1);
const second = issue(2, hashWipeStatement(first.certificate), older, 9);
const third = issue(3, hashWipeStatement(second.certificate), newer, 12);
const chain = [first, second, third];

describe('a wipe certificate', () => {
  it('is valid under the key that signed it, also after that key was replaced', () => {
    expect(chain.map((signed) => checkCertificate(signed, keys))).toEqual([null, null, null]);
  });

  it('is invalid when any field is changed', () => {
    for (const field of Object.keys(first.certificate) as (keyof WipeStatement)[]) {
      const value = first.certificate[field];
      const other =
        typeof value === 'string' ? `${value}x` : typeof value === 'number' ? value + 1 : ['forged'];
      const forged = { ...first, certificate: { ...first.certificate, [field]: other } };
      expect(checkCertificate(forged, keys), field).not.toBeNull();
    }
  });

  it('is invalid under a key that is unknown, renamed or not in force', () => {
    expect(checkCertificate(first, [newer.published])).toMatchObject({ kind: 'key_unknown' });
    const renamed = { ...newer.published, key_id: older.published.key_id };
    expect(checkCertificate(first, [renamed])).toMatchObject({ kind: 'key_unknown' });
    const late = issue(1, CHAIN_GENESIS, older, 11);
    expect(checkCertificate(late, keys)).toMatchObject({ kind: 'key_not_in_force' });
  });
});

describe('a chain of wipe certificates', () => {
  it('is valid across a change of keys, and can be checked in parts', () => {
    const whole = checkChain(chain, keys);
    expect(whole.findings).toEqual([]);
    const part = checkChain([first, second], keys);
    expect(checkChain([third], keys, part.head)).toEqual(whole);
  });

  it('detects removed, inserted and replaced certificates', () => {
    const kinds = (altered: SignedWipeCertificate[]) =>
      checkChain(altered, keys).findings.map(({ sequence, kind }) => `${sequence} ${kind}`);
    expect(kinds([first, third])).toEqual(['3 certificate_missing']);
    expect(kinds([second, third])).toEqual(['2 certificate_missing']);
    const exchanged = issue(2, hashWipeStatement(first.certificate), older, 8);
    expect(kinds([first, exchanged, third])).toEqual(['3 chain_broken']);
  });
});
