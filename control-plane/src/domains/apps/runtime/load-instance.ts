import type { Db } from '../../../platform/db/database.ts';
import type { VersionRow } from '../catalog/describe-manifest.ts';
import { findVersion } from '../catalog/find-manifests.ts';
import type { MemberRow } from '../instances/describe-instance.ts';
import type { InstanceRow } from '../instances/record-event.ts';

export interface LoadedInstance {
  instance: InstanceRow;
  version: VersionRow;
  members: MemberRow[];
}

/** An instance with its version and members, as they are now. */
export async function loadInstance(db: Db, instanceId: string): Promise<LoadedInstance> {
  return await db.transaction().execute(async (tx) => {
    const instance = await tx
      .selectFrom('app_instances')
      .selectAll()
      .where('id', '=', instanceId)
      .executeTakeFirstOrThrow();
    const version = await findVersion(tx, { slug: instance.app_slug, version: instance.app_version });
    const members = await tx
      .selectFrom('app_instance_members')
      .selectAll()
      .where('instance_id', '=', instanceId)
      .orderBy('id')
      .execute();
    return { instance, version, members };
  });
}

/** Whether the end of an instance was decided. */
export async function isEnding(db: Db, instanceId: string): Promise<boolean> {
  const row = await db
    .selectFrom('app_instances')
    .select(['ending', 'ended_at'])
    .where('id', '=', instanceId)
    .executeTakeFirstOrThrow();
  return row.ending !== null || row.ended_at !== null;
}
