import { sql } from 'kysely';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { Tx } from '../../../platform/db/database.ts';
import { withRole } from '../../../platform/db/scope.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import { findAllocation } from '../find-allocation.ts';
import { type AllocationRow, hostOf } from '../transition-allocation.ts';
import { shapeOf } from '../shapes/shape-of.ts';
import { requestIngressUpdate } from './request-ingress-update.ts';
import { choosePublicAddress } from './choose-public-address.ts';
import type { IngressRow } from './describe-ingress.ts';
import { publicAddressPool } from './public-address-pool.ts';

const SSH_PORT = 22;

export interface IngressRequest {
  machine_port: number;
  public_port?: number;
  protocol?: 'tcp' | 'udp';
}

/** Forwards a port of a public address to the machine, and sends the change to its host. */
export async function attachIngress(
  services: Services,
  tx: Tx,
  caller: Caller,
  allocationId: string,
  wanted: IngressRequest,
): Promise<{ allocation: AllocationRow; ingress: IngressRow }> {
  const allocation = await findAllocation(tx, caller, 'ingress.manage', allocationId, { lock: true });
  refuseUnreachable(allocation, wanted);
  const scope = { organizationId: allocation.organization_id, projectId: allocation.project_id };
  const pool = publicAddressPool(services.policies, scope);
  if (pool.length === 0)
    throw new Problem('ingress_not_offered', 'No policy names an owner and a pool for it.');
  return await withRole(tx, 'gpuaas_worker', async () => {
    // Serialises choices, so that the next one sees this one.
    await sql`select pg_advisory_xact_lock(hashtextextended('public ingress', 0))`.execute(tx);
    await requireRoom(tx, allocation.id, services.policies.get('ingress.max_per_allocation', scope));
    const taken = await tx
      .selectFrom('public_ingresses')
      .select(['node_id', 'public_address', 'protocol', 'public_port'])
      .where('state', '!=', 'detached')
      .execute();
    const { machine_port, protocol = 'tcp', public_port: publicPort = machine_port } = wanted;
    const nodeId = hostOf(allocation);
    const publicAddress = choosePublicAddress(pool, taken, { nodeId, protocol, publicPort });
    if (!publicAddress)
      throw new Problem('ingress_pool_exhausted', `No address has ${protocol} port ${publicPort} free.`);
    const ingress = await tx
      .insertInto('public_ingresses')
      .values({
        id: newId(),
        organization_id: allocation.organization_id,
        project_id: allocation.project_id,
        allocation_id: allocation.id,
        node_id: nodeId,
        protocol,
        public_address: publicAddress,
        public_port: publicPort,
        machine_port,
        created_by: caller.id,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    await requestIngressUpdate(services, tx, allocation);
    return { allocation, ingress };
  });
}

function refuseUnreachable(allocation: AllocationRow, { machine_port }: IngressRequest): void {
  if (machine_port === SSH_PORT)
    throw new Problem(
      'ingress_port_refused',
      'SSH from outside goes through the platform: gpuaas ssh, or the terminal.',
    );
  const { ingressRefusal } = shapeOf(allocation);
  if (ingressRefusal !== null) throw new Problem('ingress_not_offered', ingressRefusal);
  if (allocation.state !== 'active' || allocation.desired_state !== 'active')
    throw new Problem('allocation_not_active', `The allocation is ${allocation.state}.`, {
      extensions: { state: allocation.state },
    });
}

async function requireRoom(tx: Tx, allocationId: string, limit: number): Promise<void> {
  const { count } = await tx
    .selectFrom('public_ingresses')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('allocation_id', '=', allocationId)
    .where('state', '!=', 'detached')
    .executeTakeFirstOrThrow();
  if (Number(count) >= limit)
    throw new Problem('ingress_limit_reached', `${count} ports lead to the machine.`, {
      extensions: { limit },
    });
}
