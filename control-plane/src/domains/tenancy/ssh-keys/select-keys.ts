import { get } from '../../../platform/present.ts';
import { Problem } from '../../../platform/http/problem.ts';

/** The public keys that a launch names, from those of the caller and of the project. */
export function selectKeys(
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
  return keyIds.map((id) => get(keys, id, 'key'));
}
