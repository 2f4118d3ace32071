import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { fromCursor } from '../../../platform/db/given.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { notFound } from '../../../platform/http/problem.ts';
import type { Sealer } from '../../../platform/keys/seal.ts';
import { findAllocation } from '../../allocations/find-allocation.ts';

type TerminalRecording = components['schemas']['TerminalRecording'];

export async function listRecordings(
  tx: Tx,
  caller: Caller,
  allocationId: string,
  { limit, page }: { limit: number; page?: string },
): Promise<Page<TerminalRecording>> {
  const before = decodePage(page, ['uuid']);
  await findAllocation(tx, caller, 'terminal_recording.read', allocationId);
  const rows = await tx
    .selectFrom('terminal_recordings')
    .selectAll()
    .where('allocation_id', '=', allocationId)
    .$call(fromCursor(before, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
  const { rows: shown, next_page } = toPage(rows, limit, (row) => [row.id]);
  const items = shown.map((row) => ({
    id: row.id,
    allocation_id: row.allocation_id,
    actor_id: row.actor_id,
    started_at: row.started_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
    bytes: Number(row.bytes),
    truncated: row.truncated,
  }));
  return { items, next_page };
}

/** The recording as an asciicast. */
export async function readRecording(
  sealer: Sealer,
  tx: Tx,
  caller: Caller,
  allocationId: string,
  recordingId: string,
): Promise<string> {
  await findAllocation(tx, caller, 'terminal_recording.read', allocationId);
  const parts = await tx
    .selectFrom('terminal_recordings as r')
    .innerJoin('terminal_recording_parts as p', 'p.recording_id', 'r.id')
    .select(['p.part', 'p.sealed'])
    .where('r.id', '=', recordingId)
    .where('r.allocation_id', '=', allocationId)
    .orderBy('p.part')
    .execute();
  if (parts.length === 0) throw notFound();
  return parts
    .map(({ part, sealed }) => sealer.open('terminal_recording', sealed, `${recordingId} ${part}`))
    .join('');
}
