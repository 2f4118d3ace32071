import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';

/** The public keys a launch names: the caller's own and those of the project, and no others. */
export async function keysForLaunch(
  tx: Tx,
  caller: Caller,
  projectId: string,
  keyIds: readonly string[],
): Promise<string[]> {
  if (keyIds.length === 0) return [];
  const rows = await tx
    .selectFrom('ssh_keys')
    .select(['id', 'public_key'])
    .where('id', 'in', keyIds)
    .where((e) => e.or([e('project_id', '=', projectId), e('user_id', '=', caller.id)]))
    .execute();
  return chooseKeys(keyIds, rows);
}

/** The same of what was found before. */
export function chooseKeys(
  keyIds: readonly string[],
  rows: readonly { id: string; public_key: string }[],
): string[] {
  const keys = new Map(rows.map((row) => [row.id, row.public_key]));
  const errors = keyIds
    .map((id, index) => ({ id, pointer: `/ssh_key_ids/${index}` }))
    .filter(({ id }) => !keys.has(id))
    .map(({ pointer }) => ({ pointer, detail: 'is neither yours nor the project’s' }));
  if (errors.length > 0) {
    throw new Problem('ssh_key_unknown', 'Some SSH keys are neither yours nor the project’s.', { errors });
  }
  return keyIds.map((id) => keys.get(id)!);
}
