import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import { notFound } from '../../../platform/http/problem.ts';
import { moneyJson, multiplyMoney } from '../../../platform/money.ts';
import type { Services } from '../../../platform/services.ts';
import { listCapacity, type Capacity } from '../../allocations/capacity.ts';
import { findRequestPrice } from '../../billing/app-usage/find-app-price.ts';
import { findLaunchable } from '../catalog/find-launchable.ts';
import { firstClosedGate } from '../instances/gates/gates.ts';
import { takeSnapshot } from '../instances/gates/take-snapshot.ts';
import { findTakenPorts } from '../instances/take-ports.ts';
import { judgeCompatibility, type Refusal } from './judge-compatibility.ts';

type AppTarget = components['schemas']['AppTarget'];
type RequestPrice = components['schemas']['AppRequestPrice'];

/** A dry run of a launch on each allocation of a project. The quota counters that it locks are free with its end. */
export async function listTargets(
  services: Pick<Services, 'policies' | 'clock'>,
  tx: Tx,
  caller: Caller,
  project: { id: string; organization_id: string },
  query: { app_slug: string; limit: number; page?: string },
): Promise<Page<AppTarget> & { request_price: RequestPrice | null }> {
  const after = decodePage(query.page, ['uuid']);
  const version = await findLaunchable(tx, query.app_slug, project.id);
  if (!version) throw notFound();
  const found = await listCapacity(tx, project.id, { after, limit: query.limit + 1 });
  const page = toPage(found, query.limit, ({ id }) => [id]);
  const price = await findRequestPrice(tx, {
    app: version.slug,
    currency: services.policies.get('prices.currency', { organizationId: project.organization_id }),
    at: services.clock.now(),
  });
  const ports = version.runtime_profile.ports.map(({ port }) => port);
  const request = {
    organizationId: project.organization_id,
    projectId: project.id,
    createdBy: caller.id,
    version,
    offered: true,
  };
  return await withRole(tx, 'gpuaas_worker', async () => {
    const ids = page.rows.map(({ id }) => id);
    const taken = await findTakenPorts(tx, ids, ports);
    const items: AppTarget[] = [];
    for (const capacity of page.rows) {
      const refusals = [
        ...judgeCompatibility(version.compatibility, capacity),
        ...portRefusals(taken.get(capacity.id) ?? []),
      ];
      const gate = firstClosedGate(await takeSnapshot(services, tx, request, capacity));
      items.push({ ...describeTarget(capacity), compatible: refusals.length === 0, refusals, gate });
    }
    return { items, next_page: page.next_page, request_price: price };
  });
}

function portRefusals(ports: readonly number[]): Refusal[] {
  if (ports.length === 0) return [];
  return [{ code: 'port_taken', message: `Another app on the allocation uses port ${ports.join(', ')}.` }];
}

function describeTarget(capacity: Capacity): Omit<AppTarget, 'compatible' | 'refusals' | 'gate'> {
  const { id, name, shape, gpuCount, state, currency, perGpuHourMicros } = capacity;
  return {
    allocation_id: id,
    name,
    capacity_shape: shape,
    gpu_count: gpuCount,
    state,
    per_hour: moneyJson(multiplyMoney({ currency, micros: perGpuHourMicros }, gpuCount)),
  };
}
