import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { newId } from '../../../platform/ids.ts';
import { rejectDuplicateName } from '../reject-duplicate-name.ts';
import { findOrganization } from '../organizations/find-organization.ts';
import type { TeamRow } from './find-team.ts';

export async function createTeam(
  tx: Tx,
  caller: Caller,
  body: components['schemas']['CreateTeam'],
): Promise<TeamRow> {
  const organization = await findOrganization(tx, caller, 'member.manage', body.organization_id);
  return await rejectDuplicateName(body.name, () =>
    tx
      .insertInto('teams')
      .values({
        id: newId(),
        organization_id: organization.id,
        name: body.name,
        description: body.description ?? '',
      })
      .returningAll()
      .executeTakeFirstOrThrow(),
  );
}
