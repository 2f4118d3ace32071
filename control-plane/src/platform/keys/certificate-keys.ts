import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { certificateKeyId } from '@gpuaas/contracts/wipe-certificate';
import { sql } from 'kysely';
import type { Tx } from '../db/database.ts';
import { newId } from '../ids.ts';
import type { Sealer } from './seal.ts';
import { present } from '../present.ts';

const SEAL_CONTEXT = 'certificate';

export interface CertificateKey {
  keyId: string;
  privateKey: KeyObject;
}

/** The current key for wipe certificates. */
export async function certificateKey(tx: Tx, sealer: Sealer): Promise<CertificateKey> {
  const { sealed_private_key } = await tx
    .selectFrom('certificate_keys')
    .select('sealed_private_key')
    .where('retired_at', 'is', null)
    .executeTakeFirstOrThrow();
  const privateKey = createPrivateKey(
    sealer.open('certificate_key', present(sealed_private_key, 'sealed key'), SEAL_CONTEXT),
  );
  // Derived, not read: write access to the table must not be enough to install another key.
  return { keyId: certificateKeyId(createPublicKey(privateKey)), privateKey };
}

/** The first key of a platform; does nothing if there is one. */
export async function ensureCertificateKey(tx: Tx, sealer: Sealer): Promise<void> {
  const any = await tx.selectFrom('certificate_keys').select('id').limit(1).executeTakeFirst();
  if (!any) await addCertificateKey(tx, sealer);
}

/** Creates a new signing key; the private half of the previous one is destroyed. */
export async function replaceCertificateKey(tx: Tx, sealer: Sealer): Promise<string> {
  await tx
    .updateTable('certificate_keys')
    .set({ retired_at: sql`clock_timestamp()`, sealed_private_key: null })
    .where('retired_at', 'is', null)
    .execute();
  return await addCertificateKey(tx, sealer);
}

async function addCertificateKey(tx: Tx, sealer: Sealer): Promise<string> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const id = newId();
  await tx
    .insertInto('certificate_keys')
    .values({
      id,
      key_id: certificateKeyId(publicKey),
      public_pem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      sealed_private_key: sealer.seal(
        'certificate_key',
        privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
        SEAL_CONTEXT,
      ),
    })
    .execute();
  return id;
}
