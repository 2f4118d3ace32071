import { signCanonical } from '@gpuaas/contracts/signing';
import { CHAIN_GENESIS, hashWipeStatement, type WipeStatement } from '@gpuaas/contracts/wipe-certificate';
import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/database.ts';
import { resourceName } from '../../../platform/ids.ts';
import { certificateKey } from '../../../platform/keys/certificate-keys.ts';
import type { Services } from '../../../platform/services.ts';

const CHAIN_LOCK = 4_872_020;

/**
 * Serialises additions to the chain and changes of its key. Take this lock last: all other writers wait for
 * it.
 */
export async function lockChain(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${CHAIN_LOCK})`.execute(tx);
}

/** Signs wipe records and appends them to the chain. Records already in it are left unchanged. */
export async function issueCertificates(
  { sealer }: Pick<Services, 'sealer'>,
  tx: Tx,
  wipeIds: readonly string[],
): Promise<void> {
  if (wipeIds.length === 0) return;
  await lockChain(tx);
  const { keyId, privateKey } = await certificateKey(tx, sealer);
  let head = await chainHead(tx);
  const issued = (await unsigned(tx, wipeIds)).map((record) => {
    const statement = describe(record, { sequence: head.sequence + 1, previousHash: head.hash, keyId });
    head = { sequence: statement.sequence, hash: hashWipeStatement(statement) };
    return {
      sequence: BigInt(statement.sequence),
      wipe_certificate_id: record.id,
      statement: JSON.stringify(statement),
      hash: head.hash,
      key_id: keyId,
      signature: signCanonical(statement, privateKey),
      issued_at: record.issued_at,
    };
  });
  if (issued.length > 0) await tx.insertInto('issued_certificates').values(issued).execute();
}

async function chainHead(tx: Tx): Promise<{ sequence: number; hash: string }> {
  const last = await tx
    .selectFrom('issued_certificates')
    .select(['sequence', 'hash'])
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last ? { sequence: Number(last.sequence), hash: last.hash } : { sequence: 0, hash: CHAIN_GENESIS };
}

type WipeRecord = Awaited<ReturnType<typeof unsigned>>[number];

/** Time is the database's: keys and certificates of all processes are compared by it. */
async function unsigned(tx: Tx, wipeIds: readonly string[]) {
  return await tx
    .selectFrom('wipe_certificates as w')
    .innerJoin('allocations as a', 'a.id', 'w.allocation_id')
    .leftJoin('issued_certificates as i', 'i.wipe_certificate_id', 'w.id')
    .selectAll('w')
    .select(['a.region', 'a.organization_id', 'a.project_id'])
    .select(sql<Date>`clock_timestamp()`.as('issued_at'))
    .where('w.id', 'in', wipeIds)
    .where('i.sequence', 'is', null)
    .orderBy('w.recorded_at')
    .orderBy('w.id')
    .execute();
}

function describe(
  record: WipeRecord,
  place: { sequence: number; previousHash: string; keyId: string },
): WipeStatement {
  return {
    format: 'gpuaas.wipe-certificate/1',
    sequence: place.sequence,
    certificate_id: record.id,
    resource_name: resourceName({
      region: record.region,
      organizationId: record.organization_id,
      projectId: record.project_id,
      resourceType: 'allocation',
      resourceId: record.allocation_id,
    }),
    organization_id: record.organization_id,
    project_id: record.project_id,
    allocation_id: record.allocation_id,
    slot_id: record.slot_id,
    slot_index: record.slot_index,
    device_serial: record.device_serial,
    method: record.method,
    verified: record.verified,
    verification: record.verification,
    proven_by: record.witnessed_by === null ? 'host' : 'witness',
    tools: record.tools,
    started_at: record.started_at.toISOString(),
    finished_at: record.finished_at.toISOString(),
    recorded_at: record.recorded_at.toISOString(),
    issued_at: record.issued_at.toISOString(),
    previous_hash: place.previousHash,
    key_id: place.keyId,
  };
}
