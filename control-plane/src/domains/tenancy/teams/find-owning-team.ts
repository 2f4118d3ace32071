import type { Tx } from '../../../platform/db/database.ts';
import { Problem } from '../../../platform/http/problem.ts';

/**
 * Id of the team that is to own a project: the named one of the organization, or its default team. It cannot be deleted
 * before the transaction ends.
 */
export async function findOwningTeam(
  tx: Tx,
  organizationId: string,
  teamId: string | undefined,
): Promise<string> {
  const team = await tx
    .selectFrom('teams')
    .select('id')
    .where('organization_id', '=', organizationId)
    .$if(teamId === undefined, (q) => q.where('is_default', '=', true))
    .$if(teamId !== undefined, (q) => q.where('id', '=', teamId!))
    .forKeyShare()
    .executeTakeFirst();
  if (team) return team.id;
  throw new Problem('team_unknown', 'The organization has no such team.', {
    errors: [{ pointer: '/team_id', detail: 'is no team of the organization' }],
  });
}
