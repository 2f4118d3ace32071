import { setTimeout as pause } from 'node:timers/promises';
import { buffer } from 'node:stream/consumers';
import type { Selectable } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { given } from '../../../platform/db/given.ts';
import type { AppLogPieces } from '../../../platform/db/generated/schema.ts';
import { notFound } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import { wholeCharacters } from './whole-characters.ts';

export type AppLog = components['schemas']['AppInstanceLog'];

/** Bytes of one answer; with each as an escaped character it is still within the contract. */
const MAX_BYTES = 128 * 1024;
const POLL_MS = 500;
/** Polls without anything new after which the member is looked at. */
const ASK_EVERY = 4;

interface LogPart {
  log: Omit<AppLog, 'content' | 'next_offset'>;
  pieces: Pick<Selectable<AppLogPieces>, 'first_byte' | 'bytes' | 'content' | 'digest'>[];
}

/** Which part of the log there is, read in the caller's scope. */
export async function findLogPart(
  tx: Tx,
  instanceId: string,
  { memberId, offset }: { memberId: string | undefined; offset: number },
): Promise<LogPart> {
  const member = await tx
    .selectFrom('app_instance_members')
    .select(['id', 'ended_at', 'log_bytes', 'log_truncated'])
    .where('instance_id', '=', instanceId)
    .$call(given(memberId, (q, id) => q.where('id', '=', id)))
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  if (!member) throw notFound();
  const after = tx
    .selectFrom('app_log_pieces')
    .where('member_id', '=', member.id)
    .where((e) => e(e('first_byte', '+', e.cast<bigint>('bytes', 'int8')), '>', BigInt(offset)))
    .orderBy('first_byte');
  // Pieces whose time is over leave a gap, which may be longer than one answer.
  const next = await after.select('first_byte').limit(1).executeTakeFirst();
  const start = Math.max(offset, Number(next?.first_byte ?? 0));
  const pieces = await after
    .select(['first_byte', 'bytes', 'content', 'digest'])
    .where('first_byte', '<', BigInt(start + MAX_BYTES))
    .execute();
  const complete = member.ended_at !== null && pieces.length === 0;
  return { log: { member_id: member.id, offset, complete, truncated: member.log_truncated }, pieces };
}

/** The text of a part. Pieces whose time is over are left out: the text then begins later than asked. */
export async function readLogPart(
  { blobs }: Pick<Services, 'blobs'>,
  { log, pieces }: LogPart,
): Promise<AppLog> {
  const first = pieces[0];
  if (!first) return { ...log, content: '', next_offset: log.offset };
  const contents: Buffer[] = [];
  for (const { content, digest } of pieces)
    contents.push(content ?? (digest === null ? Buffer.alloc(0) : await buffer(await blobs.open(digest))));
  const start = Math.max(log.offset, Number(first.first_byte));
  const text = Buffer.concat(contents)
    .subarray(start - Number(first.first_byte))
    .subarray(0, MAX_BYTES);
  const whole = wholeCharacters(text);
  return {
    ...log,
    offset: start,
    content: whole.toString('utf8').toWellFormed(),
    next_offset: start + whole.length,
  };
}

export interface FollowOptions {
  waitMs: number;
  /** Has the member looked at before its time: somebody waits for its log. */
  ask(memberId: string): Promise<void>;
  stopping: AbortSignal;
}

/** Reads again until there is more, the log is complete, or the time is over. */
export async function followLog(
  read: () => Promise<AppLog>,
  { waitMs, ask, stopping }: FollowOptions,
): Promise<AppLog> {
  for (let left = waitMs, polls = 0; ; left -= POLL_MS, polls += 1) {
    const log = await read();
    if (log.content !== '' || log.complete || left <= 0 || stopping.aborted) return log;
    if (polls % ASK_EVERY === 0) await ask(log.member_id);
    await pause(Math.min(POLL_MS, left), undefined, { signal: stopping }).catch(() => undefined);
  }
}
