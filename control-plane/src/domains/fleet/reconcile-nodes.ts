import type { Selectable } from 'kysely';
import { parseTaskOutput, type TaskKind, type TaskOutput } from '@gpuaas/contracts/tasks';
import type { Db, Tx } from '../../platform/db/database.ts';
import type { Nodes } from '../../platform/db/generated/schema.ts';
import { newId } from '../../platform/ids.ts';
import type { Services } from '../../platform/services.ts';
import type { Tick } from '../../platform/ticks/tick.ts';
import { syncIncidents, type IncidentCondition } from '../incidents/sync-incidents.ts';
import { emitConnectionChanges } from './health/emit-connection-changes.ts';
import { endAbandonedConversions } from './conversion/end-abandoned.ts';
import { endAbandonedOnboardings } from './onboarding/end-abandoned.ts';
import { cordonNode, cordonsByNode, uncordonNode, type Cordon, type CordonReason } from './nodes/cordons.ts';
import { expireTasks } from '../tasks/expire-tasks.ts';
import { nodeConditions, type NodeConditions, type Readiness } from './health/node-conditions.ts';
import { emitNodeChanged } from './nodes/node-events.ts';
import { completeIdentityRotations } from './identity/rotate-identity.ts';
import { capacityLosses } from './slots/host-capacity.ts';
import { setDeviceFaults } from './slots/set-device-faults.ts';
import { selectWholeNodeUnit } from './topology/find-drift.ts';
import { BOUND_FIELDS, topologyDrift, type ApprovedSlot } from './topology/topology-drift.ts';
import { get, present } from '../../platform/present.ts';

type Discovery = TaskOutput['slice.topology_discover'];
/** Latest output of a kind of inspection, by host. */
type Latest<K extends TaskKind> = Map<string, { taskId: string; output: TaskOutput[K] }>;

const HEALTH_CORDONS: readonly CordonReason[] = [
  'gpu_missing',
  'gpu_unhealthy',
  'agent_outdated',
  'not_ready',
];

/**
 * Compares approved slots with hosts' reports, and acts: unhealthy slots, cordons, incidents. All of it ends
 * automatically with the evidence.
 */
export function reconcileNodes(): Tick<Services> {
  // Discoveries are large and rarely change; each process reads one once.
  const discoveries: Latest<'slice.topology_discover'> = new Map();
  const checks: Latest<'slice.prereq_check'> = new Map();
  return {
    name: 'fleet.reconcile_nodes',
    everySeconds: 5,
    catchUp: 'skip',
    async run(services) {
      await refreshLatest(services.db, 'slice.topology_discover', discoveries);
      await refreshLatest(services.db, 'slice.prereq_check', checks);
      await reconcile(services, discoveries, checks);
      await endAbandonedConversions(services);
      await completeIdentityRotations(services);
      await endAbandonedOnboardings(services);
      await expireTasks(services);
    },
  };
}

async function reconcile(
  services: Services,
  discoveries: ReadonlyMap<string, { output: Discovery }>,
  checks: ReadonlyMap<string, { output: Readiness }>,
): Promise<void> {
  const { db, clock, policies } = services;
  const now = clock.now();
  const nodes = await db.selectFrom('nodes').selectAll().execute();
  if (nodes.length === 0) return;
  const slots = await slotsByNode(db);
  const cordons = await cordonsByNode(
    db,
    nodes.map((node) => node.id),
  );
  const reinstalled = await reinstalledNodes(db, nodes);
  const minimumAgentVersion = policies.get('fleet.minimum_agent_version');
  const found = nodes.map((node) => {
    const approved = slots.get(node.id) ?? [];
    const discovery = discoveries.get(node.id)?.output;
    const conditions = nodeConditions({
      slots: approved,
      observed: node.observed,
      drift: discovery ? topologyDrift(approved, discovery) : [],
      readiness: node.mode === 'slice' ? (checks.get(node.id)?.output ?? null) : null,
      capacityLosses: node.mode === 'slice' ? capacityLosses(discovery?.inventory, approved) : [],
      agentVersion: node.agent_version,
      minimumAgentVersion,
    });
    return { node, conditions, standing: cordons.get(node.id) ?? [] };
  });
  await db.transaction().execute(async (tx) => {
    for (const { node, conditions, standing } of found) {
      const changed = await applyCordons(tx, node.id, conditions, standing, now);
      await setDeviceFaults(tx, node.id, conditions.slotFaults);
      if (changed) await emitNodeChanged(tx, node.id, 'cordons_changed', newId());
    }
    await tellOperators(tx, now, found, {
      silentSeconds: policies.get('fleet.unreachable_incident_after_seconds'),
      rotationSeconds: policies.get('fleet.identity_rotation_deadline_seconds'),
      reinstalled,
    });
  });
  await emitConnectionChanges(services, nodes);
}

async function applyCordons(
  tx: Tx,
  nodeId: string,
  { cordons }: NodeConditions,
  standing: readonly Cordon[],
  now: Date,
): Promise<boolean> {
  let changed = false;
  for (const reason of HEALTH_CORDONS) {
    const stands = standing.some((cordon) => cordon.reason === reason);
    const detail = cordons.get(reason);
    if (detail && !stands)
      changed = (await cordonNode(tx, nodeId, { reason, detail, since: now })) || changed;
    if (!detail && stands) changed = (await uncordonNode(tx, nodeId, reason)) || changed;
  }
  return changed;
}

interface Found {
  node: Selectable<Nodes>;
  conditions: NodeConditions;
  standing: readonly Cordon[];
}

async function tellOperators(
  tx: Tx,
  now: Date,
  found: readonly Found[],
  {
    silentSeconds,
    rotationSeconds,
    reinstalled,
  }: { silentSeconds: number; rotationSeconds: number; reinstalled: ReadonlySet<string> },
): Promise<void> {
  const about = (
    node: Selectable<Nodes>,
    summary: string,
    detail: Record<string, unknown>,
  ): IncidentCondition => ({
    targetType: 'node',
    targetId: node.id,
    summary,
    detail: { hostname: node.hostname, ...detail },
  });
  const lost = found.filter(({ conditions }) => conditions.missing.length > 0);
  const missing = lost.map(({ node, conditions }) =>
    about(node, `${node.hostname} lacks ${conditions.missing.map((entry) => entry.device).join(', ')}.`, {
      missing: conditions.missing,
    }),
  );
  const ill = found.filter(({ conditions }) => conditions.failing.length > 0);
  const failing = ill.map(({ node, conditions }) =>
    about(node, `${node.hostname} reports ${conditions.failing.length} failing GPUs.`, {
      gpus: conditions.failing,
    }),
  );
  const old = found.filter(({ conditions }) => conditions.cordons.has('agent_outdated'));
  const outdated = old.map(({ node, conditions }) =>
    about(node, get(conditions.cordons, 'agent_outdated', 'cordon'), { agent_version: node.agent_version }),
  );
  const unready = found.filter(({ conditions }) => conditions.cordons.has('not_ready'));
  const notReady = unready.map(({ node, conditions }) =>
    about(node, `${node.hostname}: ${get(conditions.cordons, 'not_ready', 'cordon')}`.slice(0, 500), {}),
  );
  const silent = found.filter(
    ({ node, standing }) => !reinstalled.has(node.id) && isSilent(node, standing, now, silentSeconds),
  );
  const unreachable = silent.map(({ node }) =>
    about(
      node,
      `${node.hostname} has been silent since ${present(node.last_heartbeat_at, 'last heartbeat').toISOString()}.`,
      {
        last_heartbeat_at: present(node.last_heartbeat_at, 'last heartbeat').toISOString(),
      },
    ),
  );
  const owing = found.flatMap(({ node, standing }) => {
    const cordon = standing.find(({ reason }) => reason === 'identity_rotation');
    return cordon &&
      !reinstalled.has(node.id) &&
      now.getTime() - Date.parse(cordon.since) > rotationSeconds * 1000
      ? [about(node, `${node.hostname} owes a new key since ${cordon.since}.`, { since: cordon.since })]
      : [];
  });
  await syncIncidents(tx, now, 'node_identity_not_rotated', owing, 'The host has shown a new key.');
  await syncIncidents(tx, now, 'node_device_missing', missing, 'The devices are back.');
  await syncIncidents(tx, now, 'node_gpu_unhealthy', failing, 'The host reports its GPUs as healthy.');
  await syncIncidents(tx, now, 'node_agent_outdated', outdated, 'The agent is new enough.');
  await syncIncidents(tx, now, 'node_not_ready', notReady, 'The host meets its prerequisites.');
  await syncIncidents(tx, now, 'node_unreachable', unreachable, 'The host is back.');
}

/** Silence is reversible and has a time box; a host under maintenance may be silent. */
function isSilent(
  node: Selectable<Nodes>,
  standing: readonly Cordon[],
  now: Date,
  boxSeconds: number,
): boolean {
  if (!node.last_heartbeat_at || standing.some((cordon) => cordon.reason === 'maintenance')) return false;
  return now.getTime() - node.last_heartbeat_at.getTime() > boxSeconds * 1000;
}

/** Hosts that MAAS erases or installs; both have their own deadlines and incidents. */
async function reinstalledNodes(db: Db, nodes: readonly Selectable<Nodes>[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('node_onboardings')
    .select('maas_system_id')
    .where('state', '=', 'running')
    .execute();
  const installing = new Set(rows.map(({ maas_system_id }) => maas_system_id));
  const reinstalled = nodes.filter(
    ({ maas_system_id: id, identity_revoked_at }) =>
      id !== null && (identity_revoked_at !== null || installing.has(id)),
  );
  return new Set(reinstalled.map(({ id }) => id));
}

type SoldSlot = ApprovedSlot & { vcpu: number; memory_gib: number };

async function slotsByNode(db: Db): Promise<Map<string, SoldSlot[]>> {
  const rows = await db
    .selectFrom('node_resource_slots')
    .select(['id', 'node_id', 'gpu_pci_address', 'vcpu', 'memory_gib', ...BOUND_FIELDS, selectWholeNodeUnit])
    .where('desired_state', '=', 'for_sale')
    .orderBy('slot_index')
    .execute();
  return Map.groupBy(rows, (row) => row.node_id);
}

async function refreshLatest<K extends TaskKind>(db: Db, kind: K, known: Latest<K>): Promise<void> {
  const latest = await db
    .selectFrom('node_tasks')
    .distinctOn('node_id')
    .select(['node_id', 'id'])
    .where('kind', '=', kind)
    .where('state', '=', 'succeeded')
    .orderBy('node_id')
    .orderBy('created_at', 'desc')
    .execute();
  const fresh = latest.filter((task) => known.get(task.node_id)?.taskId !== task.id);
  if (fresh.length === 0) return;
  const rows = await db
    .selectFrom('node_tasks')
    .select(['id', 'node_id', 'output'])
    .where(
      'id',
      'in',
      fresh.map((task) => task.id),
    )
    .execute();
  for (const row of rows) {
    known.set(row.node_id, { taskId: row.id, output: parseTaskOutput(kind, row.output) });
  }
}
