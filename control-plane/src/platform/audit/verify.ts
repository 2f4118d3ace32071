import { createPublicKey, type KeyObject } from 'node:crypto';
import { sql } from 'kysely';
import type { Db, Tx } from '../db/database.ts';
import { hashRow, chainHead, ZERO_HASH, unpackLeaves } from './chain.ts';
import {
  checkpointOf,
  hashCheckpoint,
  isSignedBy,
  segmentsFrom,
  type Retirement,
  type SegmentRow,
} from './checkpoint.ts';
import { LOG_BEGINNING, rowsBetween, type AuditRow, type LogPosition } from './rows.ts';

export interface ChainFinding {
  kind:
    | 'row_changed'
    | 'row_missing'
    | 'row_inserted'
    | 'month_missing'
    | 'checkpoint_missing'
    | 'checkpoint_forged'
    | 'chain_broken'
    | 'retirement_forged'
    | 'anchor_missing';
  segment: string;
  rowId: string | null;
  detail: string;
}

export interface Verification {
  findings: ChainFinding[];
  segments: number;
  rows: number;
  /** Rows whose months were retired; their checkpoints hold. */
  retiredRows: number;
  /** Where to continue; null at the end of the log. */
  nextSegment: bigint | null;
  head: { segment: string; head_hash: string } | null;
}

/** A head that was stored outside the database. */
export interface Anchor {
  segment: bigint;
  headHash: string;
}

export interface VerifyOptions {
  publicKey: KeyObject | string;
  from?: bigint;
  /** At most this many segments; all of them when left out. */
  segments?: number;
  anchors?: readonly Anchor[];
  /** Enough to see the fault; more findings of a wiped log add nothing. */
  maxFindings?: number;
}

const PAGE = 50;

/**
 * Checks every row against the sealed hashes, the hashes against the chain and the chain against its
 * signatures. Read-only; anyone with the public key can run it.
 */
export async function verifyAudit(db: Db | Tx, options: VerifyOptions): Promise<Verification> {
  const publicKey =
    typeof options.publicKey === 'string' ? createPublicKey(options.publicKey) : options.publicKey;
  const from = options.from ?? 1n;
  const limit = options.segments ?? Number.MAX_SAFE_INTEGER;
  const maxFindings = options.maxFindings ?? 100;
  const findings: ChainFinding[] = [];
  const retired = await retiredMonths(db, publicKey, findings);
  const months = await existingMonths(db);
  let before = from > 1n ? ((await segmentsFrom(db, from - 1n, 1))[0] ?? null) : null;
  const result: Verification = {
    findings,
    segments: 0,
    rows: 0,
    retiredRows: 0,
    nextSegment: null,
    head: null,
  };
  let next = from;
  for (;;) {
    const page = await segmentsFrom(db, next, Math.min(PAGE, limit - result.segments));
    for (const segment of page) {
      checkChain(before, segment, from, publicKey, findings);
      if (retired.has(segment.month)) result.retiredRows += segment.row_count;
      else await checkRows(db, before, segment, months, findings);
      checkAnchors(segment, options.anchors ?? [], findings);
      before = segment;
      next = segment.segment + 1n;
      result.segments += 1;
      result.rows += segment.row_count;
      if (findings.length >= maxFindings) break;
    }
    if (findings.length >= maxFindings || page.length === 0) break;
    if (result.segments >= limit) {
      result.nextSegment = next;
      break;
    }
  }
  if (before) result.head = { segment: String(before.segment), head_hash: before.head_hash.toString('hex') };
  if (result.nextSegment === null && findings.length < maxFindings) {
    const lost = (options.anchors ?? []).filter(({ segment }) => segment > (before?.segment ?? 0n));
    for (const { segment } of lost) {
      findings.push(
        finding('anchor_missing', segment, 'The log ends before a checkpoint that is known to have been.'),
      );
    }
  }
  return result;
}

function checkChain(
  before: SegmentRow | null,
  segment: SegmentRow,
  from: bigint,
  publicKey: KeyObject,
  findings: ChainFinding[],
): void {
  const expected = before ? before.segment + 1n : from;
  if (segment.segment !== expected) {
    findings.push(
      finding('checkpoint_missing', expected, `Checkpoints up to ${segment.segment - 1n} are missing.`),
    );
  } else {
    const previous = before ? hashCheckpoint(before) : ZERO_HASH;
    const begins = segment.segment === 1n || before !== null;
    if (begins && !previous.equals(segment.previous_hash)) {
      findings.push(
        finding('chain_broken', segment.segment, 'It does not build on the checkpoint before it.'),
      );
    }
  }
  if (!isSignedBy(publicKey, checkpointOf(segment), segment.signature)) {
    findings.push(finding('checkpoint_forged', segment.segment, 'The signature is not the platform’s.'));
  }
  const leaves = unpackLeaves(segment.leaves);
  if (!chainHead(segment.previous_hash, leaves).equals(segment.head_hash)) {
    findings.push(
      finding('chain_broken', segment.segment, 'The hashes of its rows do not lead to its head.'),
    );
  }
}

async function checkRows(
  db: Db | Tx,
  before: SegmentRow | null,
  segment: SegmentRow,
  months: ReadonlySet<string>,
  findings: ChainFinding[],
): Promise<void> {
  if (!months.has(segment.month)) {
    findings.push(
      finding(
        'month_missing',
        segment.segment,
        `The rows of ${segment.month.slice(0, 7)} are gone and were not retired.`,
      ),
    );
    return;
  }
  const after: LogPosition = before ? { xid: before.upto_xid, id: before.upto_id } : LOG_BEGINNING;
  const upto: LogPosition = { xid: segment.upto_xid, id: segment.upto_id };
  const leaves = unpackLeaves(segment.leaves);
  const rows = await rowsBetween(db, after, upto, leaves.length * 2 + 1000);
  compare(segment.segment, leaves, rows, findings);
}

function compare(
  segment: bigint,
  leaves: ReturnType<typeof unpackLeaves>,
  rows: AuditRow[],
  findings: ChainFinding[],
): void {
  const present = new Map(rows.map((row) => [row.id, row]));
  const sealed = new Set(leaves.map((leaf) => leaf.id));
  for (const { id, hash } of leaves) {
    const row = present.get(id);
    if (!row)
      findings.push(
        finding('row_missing', segment, 'It was sealed and is not there, or not in its place.', id),
      );
    else if (!hashRow(row).equals(hash)) {
      findings.push(finding('row_changed', segment, 'It is not what was sealed.', id));
    }
  }
  for (const row of rows) {
    if (sealed.has(row.id)) continue;
    findings.push(
      finding('row_inserted', segment, 'It stands among sealed rows and was not sealed with them.', row.id),
    );
  }
}

function checkAnchors(segment: SegmentRow, anchors: readonly Anchor[], findings: ChainFinding[]): void {
  const anchor = anchors.find((candidate) => candidate.segment === segment.segment);
  if (!anchor || anchor.headHash === segment.head_hash.toString('hex')) return;
  findings.push(finding('anchor_missing', segment.segment, 'Its head is not the one that was noted.'));
}

async function existingMonths(db: Db | Tx): Promise<Set<string>> {
  const { rows } = await sql<{ month: string }>`
    select replace(right(c.relname, 7), '_', '-') || '-01' as month
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'public.audit_logs'::regclass`.execute(db);
  return new Set(rows.map((row) => row.month));
}

/** Months that may be missing. A retirement that the platform did not sign excuses nothing. */
async function retiredMonths(
  db: Db | Tx,
  publicKey: KeyObject,
  findings: ChainFinding[],
): Promise<Set<string>> {
  const { rows } = await sql<Omit<Retirement, 'retired_at'> & { retired_at: Date; signature: string }>`
    select to_char(month, 'YYYY-MM-DD') as month, first_segment::text, last_segment::text, row_count::text, retired_at,
      key_id, signature
    from audit_retirements`.execute(db);
  const signed = rows.filter(({ signature, ...retirement }) => {
    const statement = { ...retirement, retired_at: retirement.retired_at.toISOString() };
    if (isSignedBy(publicKey, statement, signature)) return true;
    const detail = `The retirement of ${retirement.month.slice(0, 7)} is not signed by the platform.`;
    findings.push(finding('retirement_forged', BigInt(retirement.first_segment), detail));
    return false;
  });
  return new Set(signed.map((row) => row.month));
}

function finding(
  kind: ChainFinding['kind'],
  segment: bigint,
  detail: string,
  rowId: string | null = null,
): ChainFinding {
  return { kind, segment: String(segment), rowId, detail };
}
