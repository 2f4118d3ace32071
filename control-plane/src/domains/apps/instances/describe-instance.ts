import type { Selectable } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Tx } from '../../../platform/db/database.ts';
import type { AppInstanceEvents, AppInstanceMembers } from '../../../platform/db/generated/schema.ts';
import { projectResourceName } from '../../../platform/ids.ts';
import { get } from '../../../platform/present.ts';
import { findAllocationNames } from '../../allocations/capacity.ts';
import type { InstanceRow } from './record-event.ts';

type Schemas = components['schemas'];
export type MemberRow = Selectable<AppInstanceMembers>;

const iso = (at: Date | null): string | null => at?.toISOString() ?? null;

/** Instances with what their version says of them. */
export async function describeInstances(
  tx: Tx,
  rows: readonly InstanceRow[],
): Promise<Schemas['AppInstance'][]> {
  if (rows.length === 0) return [];
  const slugs = [...new Set(rows.map(({ app_slug: slug }) => slug))];
  const versions = await tx
    .selectFrom('app_manifest_versions')
    .select(['slug', 'version', 'display_name', 'runtime_profile'])
    .where('slug', 'in', slugs)
    .execute();
  const byName = new Map(versions.map((version) => [`${version.slug} ${version.version}`, version]));
  const members = await tx
    .selectFrom('app_instance_members')
    .select(['instance_id', 'ended_at', 'teardown_proved_at', 'teardown_due_at'])
    .where(
      'instance_id',
      'in',
      rows.map(({ id }) => id),
    )
    .execute();
  const byInstance = Map.groupBy(members, (member) => member.instance_id);
  const names = await findAllocationNames(tx, [...new Set(rows.map((row) => row.allocation_id))]);
  return rows.map((row) =>
    describe(row, {
      version: get(byName, `${row.app_slug} ${row.app_version}`, 'version'),
      members: byInstance.get(row.id) ?? [],
      allocationName: get(names, row.allocation_id, 'allocation'),
    }),
  );
}

type Proofs = readonly Pick<MemberRow, 'teardown_proved_at' | 'teardown_due_at'>[];

interface Around {
  version: { display_name: string; runtime_profile: Schemas['AppRuntimeProfile'] };
  members: Proofs;
  allocationName: string;
}

function describe(row: InstanceRow, { version, members, allocationName }: Around): Schemas['AppInstance'] {
  return {
    id: row.id,
    resource_name: projectResourceName(row.organization_id, row.project_id, 'app_instance', row.id),
    organization_id: row.organization_id,
    project_id: row.project_id,
    app_slug: row.app_slug,
    app_version: row.app_version,
    display_name: version.display_name,
    kind: row.kind,
    name: row.name,
    status: row.status,
    desired: row.desired,
    reason: row.reason,
    waiting_for: row.gate,
    bound_capacity_shape: row.bound_capacity_shape,
    allocation_id: row.allocation_id,
    allocation_name: allocationName,
    ports: version.runtime_profile.ports,
    parameters: row.parameters,
    retry_of: row.retry_of,
    attempt: row.attempt,
    exit_code: row.exit_code,
    teardown: describeTeardown(row, members),
    created_by: row.created_by,
    created_by_name: row.created_by_name,
    created_at: row.created_at.toISOString(),
    started_at: iso(row.started_at),
    ended_at: iso(row.ended_at),
  };
}

function describeTeardown({ ended_at: endedAt }: InstanceRow, members: Proofs): Schemas['AppTeardown'] {
  if (endedAt === null) return { state: 'none', due_at: null, proved_at: null };
  const open = members.filter((member) => member.teardown_proved_at === null);
  const latest = (dates: readonly (Date | null)[]): string | null =>
    iso(dates.reduce((last, date) => (last === null || (date !== null && date > last) ? date : last), null));
  if (open.length > 0)
    return { state: 'open', due_at: latest(open.map((one) => one.teardown_due_at)), proved_at: null };
  return { state: 'proved', due_at: null, proved_at: latest(members.map((one) => one.teardown_proved_at)) };
}

export function describeMember(row: MemberRow): Schemas['AppInstanceMember'] {
  return {
    id: row.id,
    app_instance_id: row.instance_id,
    allocation_id: row.allocation_id,
    role: row.role,
    status: row.status,
    reason: row.reason,
    ports: row.ports,
    exit_code: row.exit_code,
    signal: row.signal,
    cpu_seconds: row.cpu_seconds,
    memory_bytes: row.memory_bytes === null ? null : Number(row.memory_bytes),
    log_bytes: Number(row.log_bytes),
    log_truncated: row.log_truncated,
    observed_at: iso(row.observed_at),
    unreachable_since: iso(row.unreachable_since),
    started_at: iso(row.started_at),
    ended_at: iso(row.ended_at),
  };
}

export function describeEvent(row: Selectable<AppInstanceEvents>): Schemas['AppInstanceEvent'] {
  return {
    id: row.id,
    event_type: row.event_type,
    message: row.message,
    member_id: row.member_id,
    reason: row.reason,
    payload: row.payload,
    occurred_at: row.occurred_at.toISOString(),
  };
}
