import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { readJson, writeDurable } from '../durable-file.ts';

/** Key and certificate live in one file, so that a crash can never pair an old key with a new certificate. */
export interface Identity {
  node_id: string;
  private_key_pem: string;
  certificate_pem: string;
  ca_bundle_pem: string;
  signing_public_key_pem: string;
}

export interface Validity {
  from: Date;
  until: Date;
}

export function identityFile(dir: string): string {
  return join(dir, 'identity.json');
}

/** Exists while the platform and this host do not accept each other, with the remedy. */
export function identityProblemFile(dir: string): string {
  return join(dir, 'identity-problem.json');
}

export async function loadIdentity(dir: string): Promise<Identity | null> {
  return await readJson<Identity>(identityFile(dir));
}

export async function saveIdentity(dir: string, identity: Identity): Promise<void> {
  await writeDurable(identityFile(dir), `${JSON.stringify(identity, null, 2)}\n`);
}

export function validityOf(identity: Identity): Validity {
  const certificate = new X509Certificate(identity.certificate_pem);
  return { from: new Date(certificate.validFrom), until: new Date(certificate.validTo) };
}

export function isValidAt(identity: Identity, now: Date): boolean {
  return now < validityOf(identity).until;
}

/** Two thirds of the lifetime leaves a third for retries. */
export function renewalTime(identity: Identity): Date {
  const { from, until } = validityOf(identity);
  return new Date(from.getTime() + ((until.getTime() - from.getTime()) * 2) / 3);
}
