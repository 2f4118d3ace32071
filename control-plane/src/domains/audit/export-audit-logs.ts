import { checkpointOf, segmentsFrom, type SegmentRow } from '../../platform/audit/checkpoint.ts';
import { hashRow } from '../../platform/audit/chain.ts';
import { LOG_BEGINNING, rowsBetween } from '../../platform/audit/rows.ts';
import type { Tx } from '../../platform/db/database.ts';

/**
 * Lines after the cursor, `segment:line`. Only sealed rows are exported: their order can no longer change, so
 * a cursor permanently names the same line.
 */
export async function exportAuditLogs(
  tx: Tx,
  { after = '1:0', segments }: { after?: string | undefined; segments: number },
): Promise<string> {
  const [segment, line] = after.split(':').map(Number);
  if (segment === undefined || line === undefined) throw new Error(`not a cursor of the export: ${after}`);
  const found = await segmentsFrom(tx, BigInt(segment), segments + 1);
  const lines: string[] = [];
  let exported = 0;
  for (const row of found) {
    if (exported === segments) break;
    const held = Number(row.segment) === segment ? line : 0;
    const left = held > row.row_count ? [] : (await linesOf(tx, row)).filter((each) => each.line > held);
    if (left.length === 0) continue;
    lines.push(...left.map(({ text }) => text));
    exported += 1;
  }
  return lines.map((text) => `${text}\n`).join('');
}

async function linesOf(tx: Tx, segment: SegmentRow): Promise<{ line: number; text: string }[]> {
  const before = segment.segment > 1n ? (await segmentsFrom(tx, segment.segment - 1n, 1))[0] : undefined;
  const after = before ? { xid: before.upto_xid, id: before.upto_id } : LOG_BEGINNING;
  const upto = { xid: segment.upto_xid, id: segment.upto_id };
  const rows = await rowsBetween(tx, after, upto, segment.row_count);
  const line = (number: number, content: object): { line: number; text: string } => ({
    line: number,
    text: JSON.stringify({ cursor: `${segment.segment}:${number}`, ...content }),
  });
  return [
    ...rows.map((row, index) => line(index + 1, { row, hash: hashRow(row).toString('hex') })),
    // Counted by sealed rows, so that a retired month still ends with its checkpoint at the same cursor.
    line(segment.row_count + 1, { checkpoint: checkpointOf(segment), signature: segment.signature }),
  ];
}
