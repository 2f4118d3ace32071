import { present } from '../../../platform/present.ts';
import { isServerError } from '../../../platform/db/database.ts';
import { databaseAsRole } from '../../../platform/db/scope.ts';
import { Batcher, publishEjection, type BatchEjection } from '../../../platform/batcher.ts';
import { replayReply, type IdempotentRequest, type StoredReply } from '../../../platform/http/idempotency.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import { readCommitmentsOfTenants } from '../../billing/funds/commitments.ts';
import type { WithFleetIndex } from '../../fleet/index/fleet-index.ts';
import type { AllocationRow } from '../transition-allocation.ts';
import type { LaunchOrder, LaunchRequest } from './launch.ts';
import { readLaunchFacts, withCommitments, type LaunchFacts } from './launch-facts.ts';
import { OrderReserver, type LaunchDecision } from './order-reserver.ts';
import { prepareLaunch } from './prepare-launch.ts';
import { LAUNCH_BATCH } from './reserve-fast.ts';

type BatcherServices = Pick<Services, 'db' | 'policies' | 'workflows' | 'clock' | 'sealer'> & WithFleetIndex;

/** A request for a launch, and the rows that are committed with it. */
export interface PendingLaunch extends LaunchRequest {
  idempotent: IdempotentRequest | null;
  commitExtras: NonNullable<LaunchOrder['commitExtras']>;
}

/** `replay`: its idempotency key was used before, with this reply. */
type LaunchResult = LaunchDecision | { kind: 'replay'; reply: StoredReply };

type Prepared =
  | { kind: 'order'; order: LaunchOrder }
  | { kind: 'refused'; problem: Problem }
  | { kind: 'replay'; reply: StoredReply };

export const BATCH_LIMITS = { batch: LAUNCH_BATCH, size: 64, underWay: 2 };
/** By then, rival launches of one batch have committed or rolled back. */
const TRIES = 3;
/** A batch gives up on a locked counter, so that one project does not block the others; each is then decided individually. */
const LOCK_TIMEOUT_MS = 250;

/** Decides the launches of a process in batches. */
export class LaunchBatcher {
  readonly #services: BatcherServices;
  readonly #reserver: OrderReserver;
  readonly #batcher: Batcher<PendingLaunch, LaunchResult>;

  constructor(services: BatcherServices) {
    this.#services = services;
    this.#reserver = new OrderReserver(services);
    this.#batcher = new Batcher((launches) => this.#decideBatch(launches), BATCH_LIMITS);
  }

  /**
   * Reserves with the next batch; null if the launch must be decided individually. A batch that the database refuses is
   * rolled back as a whole: which launch caused it shows when each is decided individually.
   */
  async reserve(
    launch: PendingLaunch,
  ): Promise<
    { kind: 'reserved'; allocation: AllocationRow } | { kind: 'replay'; reply: StoredReply } | null
  > {
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const result = await this.#batcher
        .submit(launch)
        .catch((error: unknown) => ({ kind: 'failed', error }) as const);
      switch (result.kind) {
        case 'reserved':
        case 'replay':
          return result;
        case 'refused':
          throw result.problem;
        case 'unfunded':
          return eject('unfunded');
        case 'failed':
          if (isServerError(result.error)) return eject('refused_by_database');
          throw result.error;
        case 'contested':
      }
    }
    return eject('contested');
  }

  async #decideBatch(launches: readonly PendingLaunch[]): Promise<LaunchResult[]> {
    const { db, clock, fleetIndex } = this.#services;
    const reading = databaseAsRole(db, 'gpuaas_placement');
    const keyed = launches.map((one) => ({ ...one, idempotencyKey: one.idempotent?.key ?? null }));
    const [facts] = await Promise.all([
      readLaunchFacts(reading, keyed, clock.now()),
      fleetIndex.catchUp(reading),
    ]);
    const prepared = await this.#prepareAll(launches, facts);
    const orders = prepared.flatMap((one) => (one.kind === 'order' ? [one.order] : []));
    const outcomes = await this.#reserver.reserveOrders(orders, { lockTimeoutMs: LOCK_TIMEOUT_MS });
    let next = 0;
    return prepared.map((one) =>
      one.kind === 'order' ? present(outcomes[next++], 'outcome of the order') : one,
    );
  }

  /** Facts say at most what a tenant is bound to pay. A refusal for money is decided again by the exact sum. */
  async #prepareAll(launches: readonly PendingLaunch[], facts: readonly LaunchFacts[]): Promise<Prepared[]> {
    const { db, clock } = this.#services;
    const prepared = launches.map((launch, index) =>
      prepare(this.#services, launch, present(facts[index], 'facts of the launch')),
    );
    const tenants = prepared.flatMap((one, index) =>
      isUnfunded(one) ? present(facts[index]?.project, 'project of the launch').organization_id : [],
    );
    if (tenants.length === 0) return prepared;
    const reading = databaseAsRole(db, 'gpuaas_placement');
    const exact = await readCommitmentsOfTenants(reading, tenants, clock.now());
    return prepared.map((one, index) =>
      isUnfunded(one)
        ? prepare(
            this.#services,
            present(launches[index], 'launch'),
            withCommitments(present(facts[index], 'facts of the launch'), exact),
          )
        : one,
    );
  }
}

const isUnfunded = (one: Prepared): boolean =>
  one.kind === 'refused' && one.problem.code === 'balance_too_low';

function prepare(services: BatcherServices, launch: PendingLaunch, facts: LaunchFacts): Prepared {
  const { idempotent, commitExtras } = launch;
  try {
    if (idempotent && facts.earlier) return { kind: 'replay', reply: replayReply(facts.earlier, idempotent) };
    const order = { ...prepareLaunch(services, launch, facts), queuedRow: null, commitExtras };
    return { kind: 'order', order };
  } catch (error) {
    if (error instanceof Problem) return { kind: 'refused', problem: error };
    throw error;
  }
}

function eject(reason: BatchEjection['reason']): null {
  publishEjection({ batch: BATCH_LIMITS.batch, reason });
  return null;
}
