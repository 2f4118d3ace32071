import { sql } from 'kysely';
import type { IncidentType } from '@gpuaas/contracts/generated/incidents.ts';
import { reconcileAllocations } from '@gpuaas/control-plane/domains/allocations/reconcile/reconcile-allocations';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import type { Policies } from '@gpuaas/control-plane/platform/policy/policies';
import type { LifecycleWorld } from './lifecycle-world.ts';

/** Targets of open incidents of a type. */
export async function openIncidentsIn({ api }: LifecycleWorld, type: IncidentType): Promise<string[]> {
  const rows = await api.services.db
    .selectFrom('incidents')
    .select('target_id')
    .where('type', '=', type)
    .where('resolved_at', 'is', null)
    .execute();
  return rows.map((row) => row.target_id);
}

/** One round of the reconciler, with some policies changed for it. */
export async function reconcileNow(
  { api: { services } }: LifecycleWorld,
  change: Record<string, number> = {},
): Promise<void> {
  const policies: Policies = {
    ...services.policies,
    get: (key, scope) => (change[key] as never) ?? services.policies.get(key, scope),
    explain: (key, scope, own) => services.policies.explain(key, scope, own),
    refresh: () => services.policies.refresh(),
  };
  const now = services.clock.now();
  await reconcileAllocations.run(servicesAsRole({ ...services, policies }, 'gpuaas_worker'), {
    from: now,
    to: now,
  });
}

/** The states that slots of a node are in, each once. */
export async function slotStatesOf({ api }: LifecycleWorld, nodeId: string): Promise<string[]> {
  const rows = await api.services.db
    .selectFrom('node_resource_slots')
    .select('state')
    .where('node_id', '=', nodeId)
    .execute();
  return [...new Set(rows.map((row) => row.state))].toSorted();
}

/** As if the allocation had been in its state, and its workflows had ended, for long. */
export async function advanceTime({ api }: LifecycleWorld, allocationId: string): Promise<void> {
  const { db } = api.services;
  await sql`update dbos.workflow_status set updated_at = updated_at - 600000
    where strpos(workflow_uuid, ${allocationId}) > 0`.execute(db);
  await db
    .updateTable('allocations')
    .set({ state_changed_at: new Date(Date.now() - 600_000) })
    .where('id', '=', allocationId)
    .execute();
}
