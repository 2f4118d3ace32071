import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '@gpuaas/control-plane/platform/db/database';
import type { Allocation } from '../allocations/allocations.ts';

export interface RunningApp {
  instanceId: string;
  label: string;
}

/** The rows of an app instance that runs on the machine; the program itself is started elsewhere. */
export async function insertRunningApp(
  db: Db,
  allocation: Allocation,
  {
    slug,
    port,
    ownerId,
    corsOrigins = [],
  }: { slug: string; port: number; ownerId: string; corsOrigins?: string[] },
): Promise<RunningApp> {
  const [instanceId, memberId] = [randomUUID(), randomUUID()];
  const profile = {
    command: ['node'],
    env: [],
    ports: [{ name: 'web', port, protocol: 'http' }],
    readiness: null,
    stop_grace_seconds: 1,
  };
  await db.transaction().execute(async (tx) => {
    await sql`insert into app_manifests (slug, display_name) values (${slug}, ${slug}) on conflict do nothing`.execute(
      tx,
    );
    await sql`insert into app_manifest_versions (slug, version, display_name, description, kind, artifact_kind, compatibility,
        runtime_profile, parameters, secrets, platform_access, cors_origins, published_by, published_by_name)
      values (${slug}, ${instanceId}, ${slug}, '', 'service', 'launchable', '{}', ${JSON.stringify(profile)}, '[]', '{}', '{}',
        ${corsOrigins}, ${ownerId}, 'test')`.execute(tx);
    await sql`insert into app_instances (id, organization_id, project_id, app_slug, app_version, kind, name, status,
        bound_capacity_shape, allocation_id, parameters, env, correlation_id, created_by, created_by_name, started_at)
      values (${instanceId}, ${allocation.organization_id}, ${allocation.project_id}, ${slug}, ${instanceId}, 'service',
        ${slug}, 'running', 'gpu_slice', ${allocation.id}, '[]', '[]', ${randomUUID()}, ${ownerId}, 'test', now())`.execute(
      tx,
    );
    await sql`insert into app_instance_members (id, organization_id, instance_id, allocation_id, role, status, ports)
      values (${memberId}, ${allocation.organization_id}, ${instanceId}, ${allocation.id}, 'node', 'running',
        ${[port]})`.execute(tx);
    await sql`insert into app_member_ports (allocation_id, port, member_id, organization_id)
      values (${allocation.id}, ${port}, ${memberId}, ${allocation.organization_id})`.execute(tx);
  });
  const { rows } = await sql<{ label: string }>`
    select label from app_addresses where app_instance_id = ${instanceId}`.execute(db);
  return { instanceId, label: rows[0]!.label };
}
