import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { sql } from 'kysely';
import type { Db, Tx } from '../db/database.ts';
import { ensureCertificateKey } from './certificate-keys.ts';
import type { Sealer } from './seal.ts';

export interface PlatformKeys {
  /** Ed25519 key that signs node tasks and access grants. */
  signing: { privateKey: KeyObject; publicPem: string };
  /** Ed25519 key that signs the checkpoints of the audit log. */
  audit: AuditKey;
}

export interface AuditKey {
  id: string;
  privateKey: KeyObject;
  publicPem: string;
}

const KEYS_LOCK = 4_872_002;

/** The platform's own keys, created once and shared by every replica through the database. */
export async function loadPlatformKeys(db: Db, sealer: Sealer): Promise<PlatformKeys> {
  return await db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${KEYS_LOCK})`.execute(tx);
    const signing = await loadOrCreate(tx, sealer, 'signing', createSigningKey);
    const audit = await loadOrCreate(tx, sealer, 'audit', createSigningKey);
    await ensureCertificateKey(tx, sealer);
    return {
      signing: { privateKey: createPrivateKey(signing.privatePem), publicPem: signing.publicPem },
      audit: auditKey(audit.privatePem),
    };
  });
}

/** The public half is derived, not read: write access to the table must not be enough to install another one. */
function auditKey(privatePem: string): AuditKey {
  const privateKey = createPrivateKey(privatePem);
  const publicKey = createPublicKey(privateKey);
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return {
    id: createHash('sha256').update(der).digest('hex').slice(0, 16),
    privateKey,
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}

interface KeyText {
  privatePem: string;
  publicPem: string;
}

async function loadOrCreate(tx: Tx, sealer: Sealer, name: string, create: () => KeyText): Promise<KeyText> {
  const row = await tx.selectFrom('platform_keys').selectAll().where('name', '=', name).executeTakeFirst();
  if (row) return { privatePem: openKey(sealer, row.sealed_private_key, name), publicPem: row.public_pem };
  const key = create();
  await tx
    .insertInto('platform_keys')
    .values({
      name,
      sealed_private_key: sealer.seal('platform_key', key.privatePem, name),
      public_pem: key.publicPem,
    })
    .execute();
  return key;
}

function openKey(sealer: Sealer, sealed: Buffer, name: string): string {
  try {
    return sealer.open('platform_key', sealed, name);
  } catch (error) {
    throw new Error(`the ${name} key was sealed with another platform key; restore platform.key`, {
      cause: error,
    });
  }
}

function createSigningKey(): KeyText {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}
