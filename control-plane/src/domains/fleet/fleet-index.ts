import { sql } from 'kysely';
import { deadlineAfter, type Deadline } from '../../platform/clock.ts';
import type { Db, Tx } from '../../platform/db/database.ts';
import type { Policies } from '../../platform/policy/policies.ts';
import { candidate, type Candidate, type Lease, type PlacementRequest } from '../placement/candidate.ts';
import { place, type Placement } from '../placement/place.ts';
import { PlacementIndex } from '../placement/placement-index.ts';
import { indexesOf, type SlotMask } from '../placement/slot-mask.ts';
import { hasSeen } from './look-snapshot.ts';
import { lookAtFleet, type FleetNode } from './placement-candidates.ts';
import { readNews, withLease, withNews } from './placement-news.ts';

/** Slots that a decision of this process is about to sell. Only a hint to its other decisions: rows are what counts. */
export interface Hold extends Lease {
  nodeId: string;
  slotIds: string[];
  readonly until: Deadline;
}

type Seen = { snapshot: string; at: Date };

/** Longer than a launch takes. A hold that nobody gave back is forgotten then. */
const HOLD_MS = 10_000;
/** How old the knowledge of who is reachable may be. */
const HEARTBEATS_MS = 2_000;
/** Changes are kept for an hour at least; an index that slept longer begins anew. */
const RELOAD_MS = 30 * 60_000;

/**
 * The fleet in the memory of one process, ready to be ranked. `catchUp` makes it equal to what is committed, at the
 * cost of what has changed; between looks it is a guess that the database checks when slots are locked. Any number of
 * processes have one each.
 */
export class FleetIndex {
  readonly #policies: Policies;
  #index = new PlacementIndex();
  /** As the database has them, without holds. */
  #nodes = new Map<string, FleetNode>();
  readonly #holds = new Map<string, Set<Hold>>();
  #snapshot: string | null = null;
  #at = new Date(0);
  /** Transactions of this process whose sales it has entered itself, and which no look has seen yet. */
  #entered: string[] = [];
  #looking = false;
  /** Sales that were told while a look was under way. */
  #told: [holds: readonly Hold[], xid: string][] = [];
  #reloadAt: Deadline = deadlineAfter(0);
  #heard: Deadline = deadlineAfter(0);
  #turn: Promise<void> = Promise.resolve();
  #asked = 0;
  #answered = 0;

  constructor(policies: Policies) {
    this.#policies = policies;
  }

  get nodes(): IterableIterator<FleetNode> {
    return this.#nodes.values();
  }

  /** When the last look was, by the database's clock. */
  get lookedAt(): Date {
    return this.#at;
  }

  /**
   * Reads what has been committed since the last look, and the `suspects` in any case. Looks follow each other, so that
   * an older one never overwrites a newer; who waited through a whole look needs none of its own.
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
      await this.#look(db, suspects);
      if (heartbeats === 'now' || this.#heard.passed()) await this.#listen(db);
      this.#answered = answers;
    } finally {
      finish();
    }
  }

  /** Ranks the fleet and holds what it chose. */
  place(request: PlacementRequest, counts: readonly number[]): Placement & { hold?: Hold } {
    const placement = place(request, this.#index, counts);
    return placement.fits ? { ...placement, hold: this.#hold(placement, request) } : placement;
  }

  /** Ranks as if nobody in this process held anything: what is held may yet be given back. */
  placeIgnoringHolds(request: PlacementRequest, counts: readonly number[]): Placement & { hold?: Hold } {
    for (const nodeId of this.#holds.keys()) this.#set(this.#nodes.get(nodeId));
    const placement = place(request, this.#index, counts);
    for (const nodeId of this.#holds.keys()) this.#refresh(nodeId);
    return placement.fits ? { ...placement, hold: this.#hold(placement, request) } : placement;
  }

  get holdsAny(): boolean {
    return this.#holds.size > 0;
  }

  /** Whether anything is held but these. */
  holdsBeside(own: ReadonlySet<Hold>): boolean {
    return [...this.#holds.values()].some((holds) => [...holds].some((hold) => !own.has(hold)));
  }

  /** The slots were not taken after all, or the database shows by now that they were. */
  giveBack(hold: Hold): void {
    this.#forget(hold);
    this.#refresh(hold.nodeId);
  }

  /**
   * The sales of these holds have committed: they are entered here instead of being read back. What a look has seen is
   * not entered again, because it may have seen the release as well. While one is under way it cannot be told which of
   * both is newer, so that waits for its end.
   */
  settle(holds: readonly Hold[], xid: string): void {
    if (this.#looking) {
      this.#told.push([holds, xid]);
      return;
    }
    if (this.#snapshot !== null && hasSeen(this.#snapshot, xid)) {
      for (const hold of holds) this.giveBack(hold);
      return;
    }
    // Of a hold that has run out nothing is known here any more: the next look reads the sale.
    if (!holds.every((hold) => this.#holds.get(hold.nodeId)?.has(hold))) return;
    this.#entered.push(xid);
    for (const hold of holds) {
      const node = this.#nodes.get(hold.nodeId)!;
      this.#nodes.set(hold.nodeId, withLease(node, { slots: hold.slots, endsAt: hold.endsAt }));
      // To the index it looks the same as held.
      this.#forget(hold);
    }
  }

  #hold({ node, slots }: Extract<Placement, { fits: true }>, { endsAt }: PlacementRequest): Hold {
    const { nodeId } = node;
    const { slotIds } = this.#nodes.get(nodeId)!;
    const hold = {
      nodeId,
      slots,
      endsAt,
      slotIds: indexesOf(slots).map((index) => slotIds[index]!),
      until: deadlineAfter(HOLD_MS),
    };
    const standing = this.#holds.get(nodeId) ?? new Set();
    this.#holds.set(nodeId, standing.add(hold));
    this.#refresh(nodeId);
    return hold;
  }

  #forget(hold: Hold): void {
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

  async #look(db: Db | Tx, suspects: readonly string[]): Promise<void> {
    this.#looking = true;
    try {
      const since = this.#reloadAt.passed() ? null : this.#snapshot;
      const { snapshot, at } = await (since === null
        ? this.#readAll(db)
        : this.#readNews(db, since, suspects));
      this.#snapshot = snapshot;
      this.#at = at;
      this.#reloadAt = deadlineAfter(RELOAD_MS);
    } finally {
      this.#looking = false;
      for (const [holds, xid] of this.#told.splice(0)) this.settle(holds, xid);
    }
    for (const hold of [...this.#holds.values()].flatMap((holds) => [...holds])) {
      if (hold.until.passed()) this.giveBack(hold);
    }
  }

  async #readAll(db: Db | Tx): Promise<Seen> {
    this.#entered = [];
    const look = await lookAtFleet(this.#policies, db, null);
    this.#index = new PlacementIndex();
    this.#nodes = new Map();
    for (const node of look.nodes) this.#learn(node);
    return look;
  }

  async #readNews(db: Db | Tx, since: string, suspects: readonly string[]): Promise<Seen> {
    const news = await readNews(db, since, this.#entered.splice(0), suspects);
    const whole = news.nodes.filter(({ nodeId, facts }) => facts || !this.#nodes.has(nodeId));
    const { nodes } =
      whole.length === 0
        ? { nodes: [] }
        : await lookAtFleet(
            this.#policies,
            db,
            whole.map(({ nodeId }) => nodeId),
          );
    for (const node of news.nodes) {
      const known = this.#nodes.get(node.nodeId);
      if (known && !node.facts) this.#learn(withNews(known, node));
    }
    for (const node of nodes) this.#learn(node);
    return news;
  }

  #learn(node: FleetNode): void {
    this.#nodes.set(node.nodeId, node);
    for (const hold of this.#holds.get(node.nodeId) ?? []) {
      if ((hold.slots & node.available) !== hold.slots) this.#forget(hold);
    }
    this.#refresh(node.nodeId);
  }

  /** Silence is no change of a row, so who is reachable is looked up by time. */
  async #listen(db: Db | Tx): Promise<void> {
    const silence = this.#policies.get('fleet.unreachable_after_seconds');
    const { rows } = await sql<{ id: string }>`
      select id from nodes where last_heartbeat_at > now() - make_interval(secs => ${silence})`.execute(db);
    const heard = new Set(rows.map(({ id }) => id));
    for (const node of this.#nodes.values()) {
      const connected = heard.has(node.nodeId);
      if (node.connected !== connected) this.#learn({ ...node, connected });
    }
    this.#heard = deadlineAfter(HEARTBEATS_MS);
  }
}

function withHolds(node: FleetNode, holds: readonly Hold[]): Candidate {
  const held = holds.reduce<SlotMask>((mask, { slots }) => mask | slots, 0);
  return candidate(node, node.layout, [...node.leases, ...holds], {
    ...node,
    available: node.available & ~held,
  });
}
