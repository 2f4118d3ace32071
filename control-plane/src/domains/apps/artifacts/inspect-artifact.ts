import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import { findArtifact } from './move-artifact.ts';
import { verifyContent } from './read-content.ts';
import type { Signature } from './trust/judge-signatures.ts';
import { findSignatures, readSignatures } from './trust/read-signatures.ts';

/** Content that was read before the transaction of a move, because reading may take long. */
export interface Inspection {
  signatures: readonly Signature[];
}

/** Reads in the caller's scope, as routes do. */
export type Read = <T>(look: (tx: Tx) => Promise<T>) => Promise<T>;

/** Reads the signatures of an artifact and, of a draft, the whole payload, whose digest is compared. */
export async function inspectArtifact(
  services: Pick<Services, 'blobs'>,
  read: Read,
  digest: string,
): Promise<Inspection> {
  const row = await read((tx) => findArtifact(tx, digest));
  if (row.state === 'draft') await verifyContent(services, row.payload_digest);
  return await inspectRegistered(services, read, row);
}

/** Reads the signatures beside a manifest of the registry; an upload has none. */
export async function inspectRegistered(
  services: Pick<Services, 'blobs'>,
  read: Read,
  artifact: { repository: string | null; digest: string },
): Promise<Inspection> {
  const manifests = await read((tx) => findSignatures(tx, artifact));
  return { signatures: await readSignatures(services, manifests) };
}

/** Reads ahead of the transaction of a mutation. A refusal is thrown inside it, so that the mutation audits it. */
export async function readAhead<T>(read: () => Promise<T>): Promise<{ result: Promise<T> }> {
  const result = read();
  await Promise.allSettled([result]);
  return { result };
}
