import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  X509Certificate,
  type KeyObject,
} from 'node:crypto';
import { x509 } from './x509.ts';
import { sql } from 'kysely';
import type { Db, Tx } from '../db/database.ts';
import { certificateSerial, EC_P256, exportPrivateKeyPem, importPrivateKey } from './certificates.ts';
import type { Sealer } from './seal.ts';
import { systemClock } from '../clock.ts';

export interface PlatformKeys {
  /** Ed25519 key that signs node tasks and access grants. */
  signing: { privateKey: KeyObject; publicPem: string };
  /** Ed25519 key that signs the checkpoints of the audit log. */
  audit: AuditKey;
  ca: { privateKey: CryptoKey; certificate: x509.X509Certificate; pem: string; fingerprint: string };
}

export interface AuditKey {
  id: string;
  privateKey: KeyObject;
  publicPem: string;
}

const KEYS_LOCK = 4_872_002;
const CA_YEARS = 10;

/** The platform's own keys, made once and shared by every replica through the database. */
export async function loadPlatformKeys(db: Db, sealer: Sealer): Promise<PlatformKeys> {
  return await db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${KEYS_LOCK})`.execute(tx);
    const signing = await loadOrCreate(tx, sealer, 'signing', createSigningKey);
    const audit = await loadOrCreate(tx, sealer, 'audit', createSigningKey);
    const ca = await loadOrCreate(tx, sealer, 'ca', createCa);
    return {
      signing: { privateKey: createPrivateKey(signing.privatePem), publicPem: signing.publicPem },
      audit: auditKey(audit.privatePem),
      ca: {
        privateKey: await importPrivateKey(ca.privatePem),
        certificate: new x509.X509Certificate(ca.publicPem),
        pem: ca.publicPem,
        fingerprint: new X509Certificate(ca.publicPem).fingerprint256.replaceAll(':', '').toLowerCase(),
      },
    };
  });
}

/** The public half is derived, not read: whoever can write the table must not be able to name another one. */
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

async function loadOrCreate(
  tx: Tx,
  sealer: Sealer,
  name: string,
  create: () => KeyText | Promise<KeyText>,
): Promise<KeyText> {
  const row = await tx.selectFrom('platform_keys').selectAll().where('name', '=', name).executeTakeFirst();
  if (row) return { privatePem: openKey(sealer, row.sealed_private_key, name), publicPem: row.public_pem };
  const key = await create();
  await tx
    .insertInto('platform_keys')
    .values({ name, sealed_private_key: sealer.seal(key.privatePem, name), public_pem: key.publicPem })
    .execute();
  return key;
}

function openKey(sealer: Sealer, sealed: Buffer, name: string): string {
  try {
    return sealer.open(sealed, name);
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

async function createCa(): Promise<KeyText> {
  const keys = await crypto.subtle.generateKey(EC_P256, true, ['sign', 'verify']);
  const notBefore = new Date(systemClock.now().getTime() - 60_000);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: certificateSerial(),
    name: 'CN=GPUaaS node CA',
    notBefore,
    notAfter: new Date(notBefore.getTime() + CA_YEARS * 365 * 86_400_000),
    signingAlgorithm: EC_P256,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { privatePem: await exportPrivateKeyPem(keys.privateKey), publicPem: certificate.toString('pem') };
}
