import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { AuditEntry } from '../../../platform/audit/record.ts';
import type { Caller } from '../../../platform/auth/caller.ts';
import type { IdempotentReply } from '../../../platform/http/idempotency.ts';
import type { Problem } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import type { FundsCheck } from '../../billing/funds/commitments.ts';
import type { Product } from '../../catalog/quote.ts';
import type { WithFleetIndex } from '../../fleet/index/fleet-index.ts';
import type { PlacementRequest } from '../../placement/candidate.ts';
import type { Charge } from '../../quotas/counter.ts';
import type { AllocationRow } from '../transition-allocation.ts';

/** Services that decide launches. */
export type LaunchServices = Services & WithFleetIndex;

/** A launch as its caller requested it. */
export interface LaunchRequest {
  caller: Caller;
  request: components['schemas']['CreateAllocation'];
  correlationId: string;
}

/** Columns of an allocation that are known before it is placed. */
export type NewAllocation = Pick<
  AllocationRow,
  | 'id'
  | 'organization_id'
  | 'project_id'
  | 'name'
  | 'sku'
  | 'capacity_shape'
  | 'gpu_count'
  | 'image'
  | 'image_digest'
  | 'region'
  | 'currency'
  | 'per_gpu_hour_micros'
  | 'price_id'
  | 'created_by'
  | 'owner_user_id'
  | 'ssh_authorized_keys'
  | 'tags'
  | 'correlation_id'
>;

/** A launch that only quota, funds of concurrent launches and capacity can still refuse. */
export interface PreparedLaunch {
  allocation: NewAllocation;
  request: PlacementRequest;
  offer: Pick<Product, 'allowedGpuCounts' | 'perGpuHour' | 'gpuModel'>;
  charge: Charge;
  funds: FundsCheck;
  whenUnavailable: 'fail' | 'queue';
  /** Sealed; null when the tenant gave none. */
  userData: Buffer | null;
}

/** Rows that are written in the transaction of a launch: the audit entry, and the reply of its idempotency key. */
export interface LaunchCommitExtras {
  audit: AuditEntry;
  answer: IdempotentReply | null;
}

/** A prepared launch, and how it is written once it is placed. */
export interface LaunchOrder extends PreparedLaunch {
  /** The row of a launch that waited in the queue, locked; null for a new launch. */
  queuedRow: AllocationRow | null;
  /** Null where the caller's own transaction writes them. */
  commitExtras: ((reserved: AllocationRow) => LaunchCommitExtras) | null;
}

/**
 * `contested`: concurrent launches hold what it needs, so the outcome is known only after they end. `unfunded`: the
 * funds do not cover it beside concurrent launches; the exact reason needs an individual decision.
 */
export type ReserveOutcome =
  | { kind: 'reserved'; allocation: AllocationRow }
  | { kind: 'refused'; problem: Problem }
  | { kind: 'contested' }
  | { kind: 'unfunded' };

/** A new launch whose audit entry and reply the caller's transaction writes. */
export function newOrder(launch: PreparedLaunch): LaunchOrder {
  return { ...launch, queuedRow: null, commitExtras: null };
}
