import type { KeyObject } from 'node:crypto';
import { signCanonical, verifyCanonical } from '@gpuaas/contracts/signing';
import { sql, type Selectable } from 'kysely';
import type { Db, Tx } from '../db/database.ts';
import type { AuditSegments } from '../db/generated/schema.ts';
import { hashStatement } from './chain.ts';

export type SegmentRow = Omit<Selectable<AuditSegments>, 'month'> & { month: string };

/** Content of a checkpoint, covered by its signature. */
export interface Checkpoint {
  segment: string;
  month: string;
  row_count: number;
  upto: { xid: string; id: string };
  previous_hash: string;
  head_hash: string;
  sealed_at: string;
  key_id: string;
}

export type UnsignedSegment = Omit<SegmentRow, 'signature' | 'leaves'>;

export function checkpointOf(row: UnsignedSegment): Checkpoint {
  return {
    segment: String(row.segment),
    month: row.month,
    row_count: row.row_count,
    upto: { xid: String(row.upto_xid), id: row.upto_id },
    previous_hash: row.previous_hash.toString('hex'),
    head_hash: row.head_hash.toString('hex'),
    sealed_at: row.sealed_at.toISOString(),
    key_id: row.key_id,
  };
}

export function hashCheckpoint(row: UnsignedSegment): Buffer {
  return hashStatement(checkpointOf(row));
}

/** A signed retirement: these segments have no rows left, on purpose. */
export interface Retirement {
  month: string;
  first_segment: string;
  last_segment: string;
  row_count: string;
  retired_at: string;
  key_id: string;
}

export function signStatement(statement: object, privateKey: KeyObject): string {
  return signCanonical(statement, privateKey);
}

export function isSignedBy(publicKey: KeyObject, statement: object, signature: string): boolean {
  return verifyCanonical(statement, signature, publicKey);
}

export async function segmentsFrom(db: Db | Tx, first: bigint, limit: number): Promise<SegmentRow[]> {
  const { rows } = await sql<SegmentRow>`
    select segment, to_char(month, 'YYYY-MM-DD') as month, row_count, upto_xid, upto_id, leaves, previous_hash,
      head_hash, sealed_at, key_id, signature
    from audit_segments where segment >= ${first} order by audit_segments.segment limit ${limit}`.execute(db);
  return rows;
}

export async function lastSegment(db: Db | Tx): Promise<SegmentRow | null> {
  const { rows } = await sql<SegmentRow>`
    select segment, to_char(month, 'YYYY-MM-DD') as month, row_count, upto_xid, upto_id, leaves, previous_hash,
      head_hash, sealed_at, key_id, signature
    from audit_segments order by audit_segments.segment desc limit 1`.execute(db);
  return rows[0] ?? null;
}
