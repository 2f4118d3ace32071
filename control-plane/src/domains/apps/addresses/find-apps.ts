import { sql } from 'kysely';
import type { Db } from '../../../platform/db/database.ts';
import type { AppDirectory } from '../../access/http/app-directory.ts';
import { isSharing, type App } from '../../access/http/app.ts';
import { findShareLink } from './find-share-link.ts';
import { findMachines, type Machine } from '../../allocations/connection/find-machines.ts';

/** The apps that gateways serve, as they are now. */
export const appDirectory: AppDirectory = {
  async byLabel(db, label) {
    const address = await db
      .selectFrom('app_addresses')
      .select('app_instance_id')
      .where('label', '=', label)
      .executeTakeFirst();
    if (!address) return null;
    const { app_instance_id: id } = address;
    return (await findApps(db, [id])).get(id) ?? null;
  },
  byId: findApps,
  findShareLink,
};

async function findApps(db: Db, instanceIds: readonly string[]): Promise<Map<string, App>> {
  const rows = await findInstances(db, instanceIds);
  if (rows.length === 0) return new Map();
  const held = await findHeldPorts(db, instanceIds);
  const links = await findLiveLinks(db, instanceIds);
  const machines = await findMachines(db, [...new Set(rows.map((row) => row.allocation_id))]);
  return new Map(
    rows.map((row) => [row.id, describe(row, { held, links, machine: machines.get(row.allocation_id) })]),
  );
}

async function findInstances(db: Db, instanceIds: readonly string[]) {
  return await db
    .selectFrom('app_instances as i')
    .innerJoin('app_addresses as a', 'a.app_instance_id', 'i.id')
    .innerJoin('app_manifest_versions as v', (join) =>
      join.onRef('v.slug', '=', 'i.app_slug').onRef('v.version', '=', 'i.app_version'),
    )
    .select([
      'i.id',
      'i.organization_id',
      'i.project_id',
      'i.app_slug',
      'i.status',
      'i.desired',
      'i.allocation_id',
      'i.created_by',
      'a.label',
      'a.sharing',
      'v.runtime_profile',
      'v.cors_origins',
    ])
    .where('i.id', 'in', instanceIds)
    .execute();
}

/** `instance port` for each port that a member holds on its machine now. Another instance may hold it later. */
async function findHeldPorts(db: Db, instanceIds: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('app_member_ports as p')
    .innerJoin('app_instance_members as m', 'm.id', 'p.member_id')
    .select(['m.instance_id', 'p.port'])
    .where('m.instance_id', 'in', instanceIds)
    .execute();
  return new Set(rows.map(({ instance_id, port }) => `${instance_id} ${port}`));
}

/** Share links that open the instances now. */
async function findLiveLinks(db: Db, instanceIds: readonly string[]): Promise<Map<string, Set<string>>> {
  const rows = await db
    .selectFrom('app_share_links')
    .select(['id', 'app_instance_id'])
    .where('app_instance_id', 'in', instanceIds)
    .where('expires_at', '>', sql<Date>`now()`)
    .execute();
  const byInstance = Map.groupBy(rows, (row) => row.app_instance_id);
  return new Map(Array.from(byInstance, ([id, links]) => [id, new Set(links.map((link) => link.id))]));
}

function describe(
  row: Awaited<ReturnType<typeof findInstances>>[number],
  {
    held,
    links,
    machine,
  }: {
    held: ReadonlySet<string>;
    links: ReadonlyMap<string, ReadonlySet<string>>;
    machine: Machine | undefined;
  },
): App {
  const port = row.runtime_profile.ports.find(({ protocol }) => protocol === 'http')?.port ?? 0;
  const serves = row.status === 'running' && held.has(`${row.id} ${port}`) && machine?.active === true;
  const starts = row.status === 'created' || row.status === 'starting';
  return {
    instanceId: row.id,
    organizationId: row.organization_id,
    projectId: row.project_id,
    label: row.label,
    name: row.app_slug,
    ownerId: row.created_by,
    sharing: isSharing(row.sharing) ? row.sharing : 'owner',
    links: links.get(row.id) ?? new Set(),
    allocationId: row.allocation_id,
    nodeId: machine?.nodeId ?? '',
    port,
    phase: row.desired !== 'run' ? 'ended' : serves ? 'running' : starts ? 'starting' : 'ended',
    corsOrigins: row.cors_origins,
  };
}
