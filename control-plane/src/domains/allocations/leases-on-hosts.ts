import type { LeasesOnHosts } from '../fleet/needs.ts';
import {
  countLiveClaims,
  findBaremetalClaims,
  listDesiredMachines,
  listHeldSlots,
  listTenantAllocations,
} from './allocations-on-node.ts';
import { listSlotExecutions } from './list-slot-executions.ts';
import { recordLeaseObservations, selectObservedLeases } from './observe/observe-leases.ts';

/** The answers to what the fleet asks about leases. */
export const leasesOnHosts: LeasesOnHosts = {
  countLiveClaims,
  listTenantAllocations,
  listDesiredMachines,
  listHeldSlots,
  findBaremetalClaims,
  listSlotExecutions,
  selectObservedLeases,
  recordLeaseObservations,
};
