import type { Tx } from '../../../platform/db/database.ts';
import { keepBlob } from '../../../platform/blobs/keep-blob.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';

/** A piece of this size moves to the blob store. */
const PIECE_BYTES = 128 * 1024;

type LogServices = Pick<Services, 'db' | 'blobs' | 'policies'>;

/**
 * Adds to the kept log of a member what stands for its bytes `from` to `to`. False if it was added already, or nothing
 * more is kept.
 */
export async function appendLog(
  services: LogServices,
  memberId: string,
  { from, to, content }: { from: number; to: number; content: Buffer },
): Promise<boolean> {
  const { db, policies } = services;
  const full = await db.transaction().execute(async (tx) => {
    const member = await tx
      .selectFrom('app_instance_members')
      .select(['organization_id', 'log_read', 'log_bytes'])
      .where('id', '=', memberId)
      .forUpdate()
      .executeTakeFirstOrThrow();
    if (Number(member.log_read) !== from) return null;
    const organizationId = member.organization_id;
    const room = policies.get('apps.log_max_bytes_per_member', { organizationId }) - Number(member.log_bytes);
    const kept = content.subarray(0, Math.max(0, room));
    const isFull = kept.length < content.length;
    await tx
      .updateTable('app_instance_members')
      .set({
        log_read: BigInt(to),
        log_bytes: member.log_bytes + BigInt(kept.length),
        ...(isFull ? { log_truncated: true } : {}),
      })
      .where('id', '=', memberId)
      .execute();
    const piece = await addToPiece(tx, memberId, organizationId, Number(member.log_bytes), kept);
    return { isFull, piece };
  });
  if (!full) return false;
  if (full.piece) await storePiece(services, memberId, full.piece);
  return !full.isFull;
}

interface FullPiece {
  id: string;
  organizationId: string;
  content: Buffer;
}

/** Grows the last piece, or begins the next one; returns the piece if it is full. */
async function addToPiece(
  tx: Tx,
  memberId: string,
  organizationId: string,
  firstByte: number,
  content: Buffer,
): Promise<FullPiece | null> {
  if (content.length === 0) return null;
  const last = await tx
    .selectFrom('app_log_pieces')
    .select(['id', 'content'])
    .where('member_id', '=', memberId)
    .orderBy('first_byte', 'desc')
    .limit(1)
    .executeTakeFirst();
  const growing = last?.content && last.content.length < PIECE_BYTES ? last : null;
  const grown = growing?.content ? Buffer.concat([growing.content, content]) : content;
  const id = growing?.id ?? newId();
  if (growing)
    await tx
      .updateTable('app_log_pieces')
      .set({ content: grown, bytes: grown.length })
      .where('id', '=', id)
      .execute();
  else
    await tx
      .insertInto('app_log_pieces')
      .values({
        id,
        organization_id: organizationId,
        member_id: memberId,
        first_byte: BigInt(firstByte),
        bytes: content.length,
        content,
      })
      .execute();
  return grown.length >= PIECE_BYTES ? { id, organizationId, content: grown } : null;
}

/** A full piece that stays in its row, because the process died here, is read from there. */
async function storePiece(
  { db, blobs }: LogServices,
  memberId: string,
  { id, organizationId, content }: FullPiece,
): Promise<void> {
  let digest: string;
  try {
    ({ digest } = await blobs.put(content, { tenantId: organizationId, maxBytes: content.length }));
  } catch (error) {
    if (!(error instanceof Problem && error.code === 'storage_quota_exceeded')) throw error;
    await db
      .updateTable('app_instance_members')
      .set({ log_truncated: true })
      .where('id', '=', memberId)
      .execute();
    return;
  }
  await db.transaction().execute(async (tx) => {
    await keepBlob(tx, { digest, tenantId: organizationId, subjectType: 'app_log', subjectId: id });
    await tx.updateTable('app_log_pieces').set({ content: null, digest }).where('id', '=', id).execute();
  });
}
