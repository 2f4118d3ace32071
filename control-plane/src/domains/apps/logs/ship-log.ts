import type { Guest } from '../executors/allocation/guest.ts';
import { readMemberLog } from '../executors/allocation/run-members.ts';
import { readSecrets } from '../runtime/member-secrets.ts';
import type { RuntimeServices } from '../runtime/runtime-services.ts';
import { appendLog } from './append-log.ts';
import { cutLog } from './cut-log.ts';

const READ_BYTES = 256 * 1024;
/** Reads of one observation; the next one goes on. */
const READS = 4;

/**
 * Brings what a member has written since the last time into the platform, without its secrets. Two processes that ship
 * the same bytes store them once. `last` also takes a line that has not ended. Returns whether there was anything.
 */
export async function shipLog(
  services: RuntimeServices,
  guest: Guest,
  memberId: string,
  { written, last = false }: { written: number; last?: boolean },
): Promise<boolean> {
  const { db } = services;
  let secrets: readonly string[] | null = null;
  for (let reads = 0; last || reads < READS; reads++) {
    const member = await db
      .selectFrom('app_instance_members')
      .select(['log_read', 'log_truncated'])
      .where('id', '=', memberId)
      .executeTakeFirstOrThrow();
    const from = Number(member.log_read);
    if (member.log_truncated || from >= written) return reads > 0;
    const chunk = await readMemberLog(guest, memberId, from, READ_BYTES);
    secrets ??= [...(await readSecrets(services, memberId)).values()];
    const isEnd = last && chunk.offset + chunk.bytes.length >= chunk.size;
    const { text, taken } = cutLog(chunk.bytes, secrets, { isEnd });
    if (taken === 0) return reads > 0;
    const lost = chunk.offset - from;
    const content = lost > 0 ? Buffer.concat([Buffer.from(`[${lost} bytes were not kept]\n`), text]) : text;
    const stored = await appendLog(services, memberId, { from, to: chunk.offset + taken, content });
    if (!stored) return true;
  }
  return true;
}
