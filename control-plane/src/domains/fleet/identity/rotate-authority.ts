import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { addAuthority } from '../../../platform/keys/authorities.ts';
import type { Sealer } from '../../../platform/keys/seal.ts';

/** Allows another rotation while one is running; the bundle stays small enough for every agent. */
const MAX_TRUSTED = 4;
const ROTATION_LOCK = 4_872_004;

/** A new CA signs from now on. Both are trusted until nothing depends on the old one. */
export async function rotateAuthority(tx: Tx, sealer: Sealer): Promise<string> {
  await lockAuthorities(tx);
  const inForce = await tx
    .selectFrom('node_authorities')
    .select(['kind', 'state'])
    .where('state', '!=', 'retired')
    .execute();
  if (inForce.some(({ kind, state }) => kind === 'step_ca' && state === 'signing')) {
    throw new Problem(
      'authority_elsewhere',
      'Rotate it in step-ca and give its new fingerprint as a setting.',
    );
  }
  if (inForce.length >= MAX_TRUSTED) {
    throw new Problem('authority_rotation_running', 'Retire one that has been replaced first.');
  }
  return await addAuthority(tx, sealer);
}

/** One change of the CAs at a time. */
export async function lockAuthorities(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${ROTATION_LOCK})`.execute(tx);
}
