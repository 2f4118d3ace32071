import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import { rejectDuplicateName } from '../reject-duplicate-name.ts';
import { findProject } from '../projects/find-project.ts';
import type { ServiceAccountRow } from './find-service-account.ts';
import { issueToken } from './issue-token.ts';

/**
 * A service account of a project, without rights yet. Its creator owns it; if a service account creates it,
 * that account's owner does.
 */
export async function createServiceAccount(
  services: Pick<Services, 'policies' | 'clock'>,
  tx: Tx,
  caller: Caller,
  body: components['schemas']['CreateServiceAccount'],
): Promise<{ row: ServiceAccountRow; token: string }> {
  const project = await findProject(tx, caller, 'service_account.manage', body.project_id, {
    staysOpen: true,
  });
  const row = await rejectDuplicateName(body.name, () =>
    tx
      .insertInto('service_accounts')
      .values({
        id: newId(),
        organization_id: project.organization_id,
        project_id: project.id,
        name: body.name,
        description: body.description ?? '',
        owner_user_id: caller.ownerUserId,
        created_by: caller.id,
      })
      .returningAll()
      .executeTakeFirstOrThrow(),
  );
  return { row, token: await issueToken(services, tx, caller, row) };
}
