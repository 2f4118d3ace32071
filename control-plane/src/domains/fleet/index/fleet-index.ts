import { sql } from 'kysely';
import { deadlineAfter, type Deadline } from '../../../platform/clock.ts';
import type { Db, Tx } from '../../../platform/db/database.ts';
import type { Policies } from '../../../platform/policy/policies.ts';
import { candidate, type Candidate, type Lease, type PlacementRequest } from '../../placement/candidate.ts';
import { place, type Placement } from '../../placement/place.ts';
import { PlacementIndex } from '../../placement/placement-index.ts';
import { toIndexes, type SlotMask } from '../../placement/slot-mask.ts';
import { snapshotIncludes } from './snapshot.ts';
import { readFleetSnapshot, type FleetNode } from './placement-candidates.ts';
import { readPlacementChanges, withLease, applyChanges } from './placement-changes.ts';
import { get, present } from '../../../platform/present.ts';

/**
 * Slots that a decision of this process is about to lease. Only a hint to its other decisions: database rows
 * decide.
 */
export interface SlotHold extends Lease {
  nodeId: string;
  slotIds: string[];
  readonly until: Deadline;
}

/** A process that places launches has one fleet index. */
export interface WithFleetIndex {
  fleetIndex: FleetIndex;
}

/** A placement whose slots this process holds until the launch commits or gives them back. */
type PlacementWithHold =
  | (Extract<Placement, { fits: true }> & { hold: SlotHold })
  | (Extract<Placement, { fits: false }> & { hold?: undefined });

type Seen = { snapshot: string; at: Date };

/** Longer than a launch takes. A hold that was not released is dropped then. */
const HOLD_MS = 10_000;
/** Maximum age of the known heartbeats. */
const HEARTBEATS_MS = 2_000;
/** Changes are kept for at least an hour; an index idle for longer is loaded again. */
const RELOAD_MS = 30 * 60_000;

/**
 * The fleet in the memory of one process, ready for ranking. `catchUp` makes it equal to the committed state,
 * at the cost of the changes; between snapshots it is a guess that the database checks when slots are locked.
 * Each process has its own.
 */
export class FleetIndex {
  readonly #policies: Policies;
  #index = new PlacementIndex();
  /** As the database has them, without holds. */
  #nodes = new Map<string, FleetNode>();
  readonly #holds = new Map<string, Set<SlotHold>>();
  #snapshot: string | null = null;
  #at = new Date(0);
  /** Own commits that are already in the index but in no snapshot yet. */
  #entered: string[] = [];
  #reading = false;
  /** Own commits that arrived while a snapshot was being read. */
  #pendingCommits: [holds: readonly SlotHold[], xid: string][] = [];
  #reloadAt: Deadline = deadlineAfter(0);
  #heartbeatsExpire: Deadline = deadlineAfter(0);
  #turn: Promise<void> = Promise.resolve();
  #asked = 0;
  #answered = 0;

  constructor(policies: Policies) {
    this.#policies = policies;
  }

  get nodes(): IterableIterator<FleetNode> {
    return this.#nodes.values();
  }

  /** Time of the last snapshot, by the database's clock. */
  get lookedAt(): Date {
    return this.#at;
  }

  /**
   * Reads everything committed since the last snapshot, and the `suspects` in any case. Snapshots run one
   * after the other, so that an older one never overwrites a newer; a caller that waited through a whole
   * snapshot needs no other.
   */
  async catchUp(
    db: Db | Tx,
    suspects: readonly string[] = [],
    heartbeats: 'recent' | 'now' = 'recent',
  ): Promise<void> {
    const asked = ++this.#asked;
    const { promise: done, resolve: finish } = Promise.withResolvers<void>();
    const before = this.#turn;
    this.#turn = done;
    await before;
    try {
      if (this.#answered >= asked && suspects.length === 0 && heartbeats === 'recent') return;
      const answers = this.#asked;
      await this.#readSnapshot(db, suspects);
      if (heartbeats === 'now' || this.#heartbeatsExpire.passed()) await this.#refreshHeartbeats(db);
      this.#answered = answers;
    } finally {
      finish();
    }
  }

  /** Ranks the fleet and holds the chosen slots. */
  place(request: PlacementRequest, counts: readonly number[]): PlacementWithHold {
    const placement = place(request, this.#index, counts);
    return placement.fits ? { ...placement, hold: this.#hold(placement, request) } : placement;
  }

  /** Ranks as if this process held no slots but its `own`, because other holds may still be released. */
  placeBesideOnly(
    own: ReadonlySet<SlotHold>,
    request: PlacementRequest,
    counts: readonly number[],
  ): PlacementWithHold {
    // Own holds count even if they have expired: the caller's transaction still locks their slots.
    const ownByNode = Map.groupBy(own, ({ nodeId }) => nodeId);
    const nodeIds = new Set([...this.#holds.keys(), ...ownByNode.keys()]);
    for (const nodeId of nodeIds) {
      const node = this.#nodes.get(nodeId);
      const holds = ownByNode.get(nodeId);
      this.#set(node && holds ? withHolds(node, holds) : node);
    }
    const placement = place(request, this.#index, counts);
    for (const nodeId of nodeIds) this.#refresh(nodeId);
    return placement.fits ? { ...placement, hold: this.#hold(placement, request) } : placement;
  }

  get holdsAny(): boolean {
    return this.#holds.size > 0;
  }

  /** Whether there are holds beside these. */
  holdsBeside(own: ReadonlySet<SlotHold>): boolean {
    return [...this.#holds.values()].some((holds) => [...holds].some((hold) => !own.has(hold)));
  }

  /** Releases a hold: its slots were not taken, or the database now shows that they were. */
  giveBack(hold: SlotHold): void {
    this.#forget(hold);
    this.#refresh(hold.nodeId);
  }

  /**
   * The leases of these holds have committed: enter them here instead of reading them back. A commit that a
   * snapshot includes is not entered again, because the snapshot may include its release as well. While a
   * snapshot is being read the order is unknown, so the entry waits for its end.
   */
  settle(holds: readonly SlotHold[], xid: string): void {
    if (this.#reading) {
      this.#pendingCommits.push([holds, xid]);
      return;
    }
    if (this.#snapshot !== null && snapshotIncludes(this.#snapshot, xid)) {
      for (const hold of holds) this.giveBack(hold);
      return;
    }
    // A hold that expired is unknown here: the next snapshot reads the lease.
    if (!holds.every((hold) => this.#holds.get(hold.nodeId)?.has(hold))) return;
    this.#entered.push(xid);
    for (const hold of holds) {
      const node = get(this.#nodes, hold.nodeId, 'node');
      this.#nodes.set(hold.nodeId, withLease(node, { slots: hold.slots, endsAt: hold.endsAt }));
      // For the index a hold and a lease look the same.
      this.#forget(hold);
    }
  }

  #hold({ node, slots }: Extract<Placement, { fits: true }>, { endsAt }: PlacementRequest): SlotHold {
    const { nodeId } = node;
    const { slotIds } = get(this.#nodes, nodeId, 'node');
    const hold = {
      nodeId,
      slots,
      endsAt,
      slotIds: toIndexes(slots).map((index) => present(slotIds[index], 'slot')),
      until: deadlineAfter(HOLD_MS),
    };
    const standing = this.#holds.get(nodeId) ?? new Set();
    this.#holds.set(nodeId, standing.add(hold));
    this.#refresh(nodeId);
    return hold;
  }

  #forget(hold: SlotHold): void {
    const standing = this.#holds.get(hold.nodeId);
    standing?.delete(hold);
    if (standing?.size === 0) this.#holds.delete(hold.nodeId);
  }

  #refresh(nodeId: string): void {
    const node = this.#nodes.get(nodeId);
    const holds = this.#holds.get(nodeId);
    this.#set(node && holds ? withHolds(node, [...holds]) : node);
  }

  #set(node: Candidate | undefined): void {
    if (node) this.#index.set(node);
  }

  async #readSnapshot(db: Db | Tx, suspects: readonly string[]): Promise<void> {
    this.#reading = true;
    try {
      const since = this.#reloadAt.passed() ? null : this.#snapshot;
      const { snapshot, at } = await (since === null
        ? this.#readAll(db)
        : this.#readNews(db, since, suspects));
      this.#snapshot = snapshot;
      this.#at = at;
      this.#reloadAt = deadlineAfter(RELOAD_MS);
    } finally {
      this.#reading = false;
      for (const [holds, xid] of this.#pendingCommits.splice(0)) this.settle(holds, xid);
    }
    for (const hold of [...this.#holds.values()].flatMap((holds) => [...holds])) {
      if (hold.until.passed()) this.giveBack(hold);
    }
  }

  async #readAll(db: Db | Tx): Promise<Seen> {
    this.#entered = [];
    const snapshot = await readFleetSnapshot(this.#policies, db, null);
    this.#index = new PlacementIndex();
    this.#nodes = new Map();
    for (const node of snapshot.nodes) this.#learn(node);
    return snapshot;
  }

  async #readNews(db: Db | Tx, since: string, suspects: readonly string[]): Promise<Seen> {
    const changes = await readPlacementChanges(db, since, this.#entered.splice(0), suspects);
    const whole = changes.nodes.filter(({ nodeId, facts }) => facts || !this.#nodes.has(nodeId));
    const { nodes } =
      whole.length === 0
        ? { nodes: [] }
        : await readFleetSnapshot(
            this.#policies,
            db,
            whole.map(({ nodeId }) => nodeId),
          );
    for (const node of changes.nodes) {
      const known = this.#nodes.get(node.nodeId);
      if (known && !node.facts) this.#learn(applyChanges(known, node));
    }
    for (const node of nodes) this.#learn(node);
    return changes;
  }

  #learn(node: FleetNode): void {
    this.#nodes.set(node.nodeId, node);
    for (const hold of this.#holds.get(node.nodeId) ?? []) {
      if ((hold.slots & node.available) !== hold.slots) this.#forget(hold);
    }
    this.#refresh(node.nodeId);
  }

  /** Silence changes no row, so heartbeats are read again after some time. */
  async #refreshHeartbeats(db: Db | Tx): Promise<void> {
    const silence = this.#policies.get('fleet.unreachable_after_seconds');
    const { rows } = await sql<{ id: string }>`
      select id from nodes where last_heartbeat_at > now() - make_interval(secs => ${silence})`.execute(db);
    const connectedIds = new Set(rows.map(({ id }) => id));
    for (const node of this.#nodes.values()) {
      const connected = connectedIds.has(node.nodeId);
      if (node.connected !== connected) this.#learn({ ...node, connected });
    }
    this.#heartbeatsExpire = deadlineAfter(HEARTBEATS_MS);
  }
}

function withHolds(node: FleetNode, holds: readonly SlotHold[]): Candidate {
  const held = holds.reduce<SlotMask>((mask, { slots }) => mask | slots, 0);
  return candidate(node, node.layout, [...node.leases, ...holds], {
    ...node,
    available: node.available & ~held,
  });
}
