import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { rejectDuplicateName } from '../reject-duplicate-name.ts';
import type { TeamRow } from './find-team.ts';

/** Changes a locked team. Its organization is locked too, so that exactly one team stays the default one. */
export async function updateTeam(
  tx: Tx,
  team: TeamRow,
  body: components['schemas']['UpdateTeam'],
): Promise<TeamRow> {
  const change = { name: body.name ?? team.name, description: body.description ?? team.description };
  await rejectDuplicateName(change.name, () =>
    tx.updateTable('teams').set(change).where('id', '=', team.id).execute(),
  );
  if (body.is_default === undefined || team.is_default) return { ...team, ...change };
  await tx
    .updateTable('teams')
    .set({ is_default: false })
    .where('organization_id', '=', team.organization_id)
    .where('is_default', '=', true)
    .execute();
  await tx.updateTable('teams').set({ is_default: true }).where('id', '=', team.id).execute();
  return { ...team, ...change, is_default: true };
}
