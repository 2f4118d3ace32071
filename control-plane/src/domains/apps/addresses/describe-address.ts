import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { notFound, Problem } from '../../../platform/http/problem.ts';
import { authorize, type Caller } from '../../../platform/auth/caller.ts';
import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import { appOrigin, type AppsSite } from '../../access/http/app-host.ts';
import { isSharing, type Sharing } from '../../access/http/app.ts';

type Address = components['schemas']['AppAddress'];

/** Where apps are reached: by browsers at their own names, by programs also at the console's. */
export interface AppSites {
  appsSite: AppsSite;
  publicUrl: string;
}

/** An instance of a project in which the caller holds the permission. */
export async function findInstance(tx: Tx, caller: Caller, permission: Permission, instanceId: string) {
  const row = await tx
    .selectFrom('app_instances as i')
    .leftJoin('app_addresses as a', 'a.app_instance_id', 'i.id')
    .select(['i.id', 'i.organization_id', 'i.project_id', 'i.created_by', 'a.label', 'a.sharing'])
    .where('i.id', '=', instanceId)
    .executeTakeFirst();
  if (!row) throw notFound();
  const { organization_id: organizationId, project_id: projectId } = row;
  authorize(caller, permission, { kind: 'project', organizationId, projectId });
  return row;
}

/** The same with its address. */
export async function findAddressed(tx: Tx, caller: Caller, permission: Permission, instanceId: string) {
  const { label, sharing, ...instance } = await findInstance(tx, caller, permission, instanceId);
  if (label === null || sharing === null || !isSharing(sharing))
    throw new Problem('app_without_address', 'The app has no http port.');
  return { ...instance, label, sharing };
}

export function describeAddress(
  { appsSite, publicUrl }: AppSites,
  { id, label, sharing }: { id: string; label: string; sharing: Sharing },
): Address {
  return {
    app_instance_id: id,
    label,
    url: `${appOrigin(appsSite, label)}/`,
    program_url: new URL(`/serve/${label}/`, publicUrl).href,
    sharing,
  };
}
