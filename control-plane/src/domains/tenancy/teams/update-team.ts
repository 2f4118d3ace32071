import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { refusingTakenName } from '../name-taken.ts';
import type { TeamRow } from './find-team.ts';

export async function updateTeam(
  tx: Tx,
  team: TeamRow,
  body: components['schemas']['UpdateTeam'],
): Promise<TeamRow> {
  const change = { name: body.name ?? team.name, description: body.description ?? team.description };
  await refusingTakenName(change.name, () =>
    tx.updateTable('teams').set(change).where('id', '=', team.id).execute(),
  );
  return { ...team, ...change };
}
