import { permissionsAt, type Binding, type Credential, type Scope } from '../../platform/auth/caller.ts';
import { currentBindings, followRights, type FollowedRights } from '../../platform/auth/follow-rights.ts';
import { keepCredential } from '../../platform/auth/kept-credential.ts';
import type { EventTail } from '../../platform/events/tail.ts';
import { repeat, type Repetition } from '../../platform/repeat.ts';
import type { Services } from '../../platform/services.ts';

/** Who is in a machine, and with which credential they came. */
export interface Access {
  allocationId: string;
  /** A user or a service account. */
  actorId: string;
  credential: Credential;
  correlationId: string;
}

/** The machine as it must be for anybody to be in it. */
export interface Machine {
  nodeId: string;
  organizationId: string;
  projectId: string;
  connection: { username: string; host_key_fingerprint: string };
}

/** Why nobody gets in, or not any more. */
export class AccessRefused extends Error {
  readonly why: 'forbidden' | 'not_active' | 'too_many';

  constructor(why: AccessRefused['why'], message: string) {
    super(message);
    this.why = why;
  }
}

export interface Entry {
  machine: Machine;
  /** What became of the machine, for whoever lost it before being told; null while it is there. */
  whyGone(): Promise<string | null>;
  leave(): void;
}

type Cut = (reason: string) => void;

/** Everything that one person has open in one machine with one credential. */
interface Visit {
  allocationId: string;
  cuts: Set<Cut>;
  rights: FollowedRights | null;
}

const RELEASED = 'The allocation is being released.';
const LOST = 'You may not connect to this machine any more.';
const ENDS = new Set(['allocation.release_requested', 'allocation.releasing', 'allocation.failed']);
/** Events are what cuts at once; this finds what an event did not. */
const LOOK_MS = 3_000;

/** Lets people into machines, and cuts what they have there when they lose the right to it or the machine goes. */
export class AccessWatch {
  readonly #services: Services;
  readonly #visits = new Map<string, Visit>();
  readonly #unsubscribe: () => void;
  readonly #look: Repetition;

  constructor(services: Services, tail: EventTail) {
    this.#services = services;
    this.#unsubscribe = tail.subscribe((event) => {
      if (ENDS.has(event.envelope.event_type)) this.#cutMachine(event.subjectId, RELEASED);
    }).unsubscribe;
    this.#look = repeat(
      LOOK_MS,
      () => this.#cutReleased(),
      (error) => services.log.warn({ err: error }, 'machines with open connections could not be looked at'),
    );
  }

  /** `cut` may be called from the moment this is called, and is called once at most. */
  async enter(access: Access, cut: Cut): Promise<Entry> {
    if (
      this.#inMachine(access.allocationId) >= this.#services.policies.get('access.max_streams_per_allocation')
    )
      throw new AccessRefused('too_many', 'The machine has as many connections as it may have.');
    const visit = this.#visit(access);
    visit.cuts.add(cut);
    const leave = (): void => this.#leave(access, visit, cut);
    try {
      // Asked after it counts as open: what changes from here on cuts it.
      const machine = await this.#machineOf(access);
      visit.rights ??= this.#follow(access, visit, machine);
      return { machine, leave, whyGone: () => this.#whyGone(access.allocationId) };
    } catch (error) {
      leave();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    for (const visit of this.#visits.values()) this.#end(visit, 'The gateway is restarting.');
    await this.#look.stop();
  }

  #visit(access: Access): Visit {
    const key = keyOf(access);
    const known = this.#visits.get(key);
    const visit = known ?? { allocationId: access.allocationId, cuts: new Set(), rights: null };
    this.#visits.set(key, visit);
    return visit;
  }

  #leave(access: Access, visit: Visit, cut: Cut): void {
    visit.cuts.delete(cut);
    if (visit.cuts.size > 0) return;
    visit.rights?.stop();
    visit.rights = null;
    if (this.#visits.get(keyOf(access)) === visit) this.#visits.delete(keyOf(access));
  }

  #inMachine(allocationId: string): number {
    let count = 0;
    for (const visit of this.#visits.values())
      if (visit.allocationId === allocationId) count += visit.cuts.size;
    return count;
  }

  async #machineOf(access: Access): Promise<Machine> {
    const { db } = this.#services;
    const row = await db
      .selectFrom('allocations')
      .select(['node_id', 'organization_id', 'project_id', 'connection', 'state', 'desired_state'])
      .where('id', '=', access.allocationId)
      .executeTakeFirst();
    const bindings = await currentBindings(db, access);
    if (!row || !bindings || !mayConnect(bindings, row))
      throw new AccessRefused('forbidden', 'Whoever asked for the token may not connect any more.');
    if (row.state !== 'active' || row.desired_state !== 'active' || !row.node_id)
      throw new AccessRefused('not_active', 'The allocation is not active.');
    return {
      nodeId: row.node_id,
      organizationId: row.organization_id,
      projectId: row.project_id,
      connection: row.connection as Machine['connection'],
    };
  }

  #follow(access: Access, visit: Visit, machine: Machine): FollowedRights {
    const { db, log } = this.#services;
    const project = { organization_id: machine.organizationId, project_id: machine.projectId };
    return followRights(
      { db, log, holds: (now) => mayConnect(now, project), onEnd: () => this.#end(visit, LOST) },
      { bindings: [], credential: access.credential },
    );
  }

  async #cutReleased(): Promise<void> {
    const ids = [...new Set([...this.#visits.values()].map(({ allocationId }) => allocationId))];
    if (ids.length === 0) return;
    const standing = await this.#standing(ids);
    for (const id of ids) if (!standing.has(id)) this.#cutMachine(id, RELEASED);
  }

  /** Machines go faster than events tell of it. */
  async #whyGone(allocationId: string): Promise<string | null> {
    return (await this.#standing([allocationId])).has(allocationId) ? null : RELEASED;
  }

  /** Those of the allocations whose machines are there to stay. */
  async #standing(allocationIds: readonly string[]): Promise<Set<string>> {
    const active = await this.#services.db
      .selectFrom('allocations')
      .select('id')
      .where('id', 'in', allocationIds)
      .where('state', '=', 'active')
      .where('desired_state', '=', 'active')
      .execute();
    return new Set(active.map(({ id }) => id));
  }

  #cutMachine(allocationId: string, reason: string): void {
    for (const visit of this.#visits.values())
      if (visit.allocationId === allocationId) this.#end(visit, reason);
  }

  #end(visit: Visit, reason: string): void {
    for (const cut of [...visit.cuts]) {
      visit.cuts.delete(cut);
      cut(reason);
    }
    visit.rights?.stop();
    visit.rights = null;
  }
}

function keyOf({ allocationId, actorId, credential }: Access): string {
  return `${allocationId} ${actorId} ${keepCredential(credential)}`;
}

function mayConnect(
  bindings: readonly Binding[],
  at: { organization_id: string; project_id: string },
): boolean {
  const project: Scope = { kind: 'project', organizationId: at.organization_id, projectId: at.project_id };
  return permissionsAt(bindings, project).has('allocation.connect');
}
