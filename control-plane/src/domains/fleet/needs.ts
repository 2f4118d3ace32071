import type { RawBuilder } from 'kysely';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { TaskParams } from '@gpuaas/contracts/tasks';
import type { Posture, SlotState } from '../../platform/db/stored-types.ts';
import type { Db, Tx } from '../../platform/db/database.ts';
import type { Services } from '../../platform/services.ts';
import type { HostObservation, HostReport, ObservedLease } from './health/host-report.ts';

type ExecutionState = components['schemas']['ExecutionState'];
type Reconciliation = TaskParams['slice.reconcile'];

export interface TenantAllocation {
  allocationId: string;
  organizationId: string;
  projectId: string;
}

/** What the fleet asks about the leases on its hosts. */
export interface LeasesOnHosts {
  /** How many claims bind the host now. */
  countLiveClaims(db: Db | Tx, nodeId: string): Promise<number>;
  /** Allocations whose machines run on the host, or are about to. */
  listTenantAllocations(db: Db | Tx, nodeId: string): Promise<TenantAllocation[]>;
  /** The machines that the host should run now. */
  listDesiredMachines(db: Db | Tx, nodeId: string): Promise<Reconciliation['machines']>;
  /** Slots claimed by allocations whose machines are coming, going or in quarantine. */
  listHeldSlots(db: Db | Tx, nodeId: string): Promise<NonNullable<Reconciliation['held']>>;
  /** Hosts that one baremetal allocation holds, and whether its cleanup got stuck. */
  findBaremetalClaims(db: Db | Tx, nodeIds: string[]): Promise<Map<string, { cleanupBlocked: boolean }>>;
  /** Which allocation holds each slot of a host, and what its workflow does now. */
  listSlotExecutions(
    db: Db | Tx,
    nodeId: string,
  ): Promise<Map<string, { allocationId: string; execution: ExecutionState }>>;
  /** The leases that a heartbeat speaks of, for the statement that records it. */
  selectObservedLeases(nodeId: string, machines: string[]): RawBuilder<ObservedLease[]>;
  /** Holds the leases of a host against what it says of itself. */
  recordLeaseObservations(
    tx: Tx,
    nodeId: string,
    leases: readonly ObservedLease[],
    before: HostObservation | null,
    now: HostReport,
    unreachableSeconds: number,
  ): Promise<void>;
}

/** What lists last showed of hosts and slots. */
export interface HostOverviews {
  nodeOverviews(
    db: Db | Tx,
    nodeIds: string[],
  ): Promise<Map<string, { posture: Posture; projectedAt: Date }>>;
  slotOverviews(db: Db | Tx, nodeId: string): Promise<Map<string, { state: SlotState; projectedAt: Date }>>;
}

/** What the fleet asks of the domains above it; a role passes the answers. */
export interface FleetNeeds {
  leases: LeasesOnHosts;
  overviews: HostOverviews;
}

export type FleetServices = Services & FleetNeeds;
