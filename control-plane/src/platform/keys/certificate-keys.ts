import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { certificateKeyId } from '@gpuaas/contracts/wipe-certificate';
import { sql } from 'kysely';
import type { Tx } from '../db/database.ts';
import { newId } from '../ids.ts';
import type { Sealer } from './seal.ts';

const SEAL_CONTEXT = 'certificate';

export interface CertificateKey {
  keyId: string;
  privateKey: KeyObject;
}

/** The key that signs wipe certificates at this moment. */
export async function certificateKey(tx: Tx, sealer: Sealer): Promise<CertificateKey> {
  const { sealed_private_key } = await tx
    .selectFrom('certificate_keys')
    .select('sealed_private_key')
    .where('retired_at', 'is', null)
    .executeTakeFirstOrThrow();
  const privateKey = createPrivateKey(sealer.open(sealed_private_key!, SEAL_CONTEXT));
  // Derived, not read: whoever can write the table must not be able to name another key.
  return { keyId: certificateKeyId(createPublicKey(privateKey)), privateKey };
}

/** The first key of a platform; does nothing when there is one. */
export async function ensureCertificateKey(tx: Tx, sealer: Sealer): Promise<void> {
  const any = await tx.selectFrom('certificate_keys').select('id').limit(1).executeTakeFirst();
  if (!any) await addCertificateKey(tx, sealer);
}

/** A new key signs from now on; the private half of the one before is gone. */
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
        privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
        SEAL_CONTEXT,
      ),
    })
    .execute();
  return id;
}
