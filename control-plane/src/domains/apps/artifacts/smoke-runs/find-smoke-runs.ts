import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Selectable } from 'kysely';
import type { Tx } from '../../../../platform/db/database.ts';
import type { AppArtifactSmokeRuns } from '../../../../platform/db/generated/schema.ts';

export type SmokeRunRow = Selectable<AppArtifactSmokeRuns>;

/** The last run of each artifact that has one, by digest. */
export async function findLastRuns(tx: Tx, digests: readonly string[]): Promise<Map<string, SmokeRunRow>> {
  if (digests.length === 0) return new Map();
  const rows = await tx
    .selectFrom('app_artifact_smoke_runs')
    .selectAll()
    .distinctOn('digest')
    .where('digest', 'in', digests)
    .orderBy('digest')
    .orderBy('id', 'desc')
    .execute();
  return new Map(rows.map((row) => [row.digest, row]));
}

export async function findLastRun(tx: Tx, digest: string): Promise<SmokeRunRow | null> {
  return (await findLastRuns(tx, [digest])).get(digest) ?? null;
}

/** Whether an instance is that of a smoke run, which starts a version that is not offered yet. */
export async function isSmokeRun(tx: Tx, instanceId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('app_artifact_smoke_runs')
    .select('id')
    .where('app_instance_id', '=', instanceId)
    .where('state', '=', 'running')
    .executeTakeFirst();
  return row !== undefined;
}

export function describeSmokeRun(row: SmokeRunRow): components['schemas']['SmokeRun'] {
  return {
    state: row.state,
    app_instance_id: row.app_instance_id,
    project_id: row.project_id,
    app_slug: row.app_slug,
    app_version: row.app_version,
    reason: row.reason,
    message: row.message,
    requested_by_name: row.requested_by_name,
    started_at: row.started_at.toISOString(),
    due_at: row.due_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
  };
}
