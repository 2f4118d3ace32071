import type { Binding, Credential } from '../../platform/auth/caller.ts';
import { currentBindings, watchRights, type RightsWatch } from '../../platform/auth/watch-rights.ts';
import { refreshBindings } from '../tenancy/credentials/refresh-bindings.ts';
import { serializeCredential } from '../../platform/auth/serialize-credential.ts';
import type { Db } from '../../platform/db/database.ts';
import type { EventTail } from '../../platform/events/tail.ts';
import { repeat, type RepeatHandle } from '../../platform/repeat.ts';
import type { Services } from '../../platform/services.ts';
import { mayEnter, type Door, type DoorSubject, type Visitor } from './door.ts';
import { first } from '../../platform/present.ts';

/** Why a visit was refused. */
export class AccessRefusedError extends Error {
  readonly why: 'forbidden' | 'not_active' | 'too_many';

  constructor(why: AccessRefusedError['why'], message: string) {
    super(message);
    this.why = why;
  }
}

export interface OpenAccess<S extends DoorSubject> {
  subject: S;
  /** Asks the database whether the subject has closed since; null while it is open. */
  whyClosed(): Promise<string | null>;
  close(): void;
}

type Cut = (reason: string) => void;

/** Everything that one credential has open behind one door. */
interface Visit {
  door: Door;
  subjectId: string;
  actorId: string;
  cuts: Set<Cut>;
  /** As the last check found them. */
  subject: DoorSubject | null;
  bindings: readonly Binding[];
  rights: RightsWatch | null;
}

/** Events cut immediately; this check finds what an event missed. */
const CHECK_MS = 3_000;

/** Lets visitors through doors, and cuts what they have open when they lose the right or the subject closes. */
export class AccessWatch {
  readonly #services: Services;
  readonly #visits = new Map<string, Visit>();
  readonly #unsubscribe: () => void;
  readonly #check: RepeatHandle;

  constructor(services: Services, tail: EventTail) {
    this.#services = services;
    this.#unsubscribe = tail.subscribe(({ envelope, subjectId }) =>
      this.#endOn(envelope.event_type, subjectId),
    ).unsubscribe;
    this.#check = repeat(
      CHECK_MS,
      () => this.#cutClosed(),
      (error) => services.log.warn({ err: error }, 'open connections could not be checked'),
    );
  }

  /** `cut` may be called from the moment this is called, and is called once at most. */
  async enter<S extends DoorSubject>(door: Door<S>, visitor: Visitor, cut: Cut): Promise<OpenAccess<S>> {
    if (this.#openAt(door, visitor.subjectId) >= door.maxVisits())
      throw new AccessRefusedError('too_many', 'The machine has reached its limit of connections.');
    if (
      visitor.credential &&
      this.#openBy(visitor.actorId) >= this.#services.policies.get('access.max_connections_per_caller')
    )
      throw new AccessRefusedError('too_many', 'You have reached your limit of open connections.');
    const visit = this.#visit(door, visitor);
    visit.cuts.add(cut);
    const leave = (): void => this.#leave(visitor, visit, cut);
    try {
      // Read after the visit counts as open: a change from here on cuts it.
      const { subject, bindings } = await findOpenSubject(this.#services.db, door, visitor);
      Object.assign(visit, { subject, bindings });
      if (visitor.credential) visit.rights ??= this.#follow(visitor.credential, visit);
      return { subject, close: leave, whyClosed: () => this.#whyClosed(door, visitor.subjectId) };
    } catch (error) {
      leave();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    for (const visit of this.#visits.values()) this.#end(visit, 'The gateway is restarting.');
    await this.#check.stop();
  }

  #visit(door: Door, visitor: Visitor): Visit {
    const key = keyOf(door, visitor);
    const known = this.#visits.get(key);
    const { subjectId, actorId } = visitor;
    const empty = { subject: null, bindings: [], rights: null };
    const visit = known ?? { door, subjectId, actorId, cuts: new Set(), ...empty };
    this.#visits.set(key, visit);
    return visit;
  }

  #leave(visitor: Visitor, visit: Visit, cut: Cut): void {
    visit.cuts.delete(cut);
    if (visit.cuts.size > 0) return;
    visit.rights?.stop();
    visit.rights = null;
    const key = keyOf(visit.door, visitor);
    if (this.#visits.get(key) === visit) this.#visits.delete(key);
  }

  #openAt({ subject }: Pick<Door, 'subject'>, subjectId: string): number {
    return this.#count((visit) => visit.subjectId === subjectId && visit.door.subject === subject);
  }

  #openBy(actorId: string): number {
    return this.#count((visit) => visit.actorId === actorId);
  }

  #count(isOf: (visit: Visit) => boolean): number {
    let count = 0;
    for (const visit of this.#visits.values()) if (isOf(visit)) count += visit.cuts.size;
    return count;
  }

  #follow(credential: Credential, visit: Visit): RightsWatch {
    const { db, log } = this.#services;
    return watchRights(
      {
        db,
        log,
        refresh: refreshBindings,
        holds: (now) => {
          visit.bindings = now;
          return visit.subject !== null && mayEnter(visit.door, visit.subject, visit, now);
        },
        onEnd: () => this.#end(visit, visit.door.forbiddenMessage),
      },
      { bindings: [], credential },
    );
  }

  #endOn(eventType: string, subjectId: string | null): void {
    for (const visit of this.#visits.values())
      if (visit.subjectId === subjectId && visit.door.endsOn.has(eventType))
        this.#end(visit, visit.door.closedMessage);
  }

  /** One query per kind of subject, however many doors lead to it. */
  async #cutClosed(): Promise<void> {
    const kinds = Map.groupBy(this.#visits.values(), ({ door }) => door.subject);
    for (const visits of kinds.values()) {
      const open = await this.#open(first(visits, 'visit').door, [
        ...new Set(visits.map(({ subjectId }) => subjectId)),
      ]);
      for (const visit of visits) {
        const subject = open.get(visit.subjectId);
        if (!subject) this.#end(visit, visit.door.closedMessage);
        // One that is still entering reads subject and rights after this check.
        else if (visit.subject) this.#judge(visit, subject);
      }
    }
  }

  #judge(visit: Visit, subject: DoorSubject): void {
    visit.subject = subject;
    if (!mayEnter(visit.door, subject, visit, visit.bindings)) this.#end(visit, visit.door.forbiddenMessage);
  }

  /** A subject can close before its event arrives. */
  async #whyClosed(door: Door, subjectId: string): Promise<string | null> {
    return (await this.#open(door, [subjectId])).has(subjectId) ? null : door.closedMessage;
  }

  async #open(door: Door, subjectIds: readonly string[]): Promise<Map<string, DoorSubject>> {
    const found = await door.find(this.#services.db, subjectIds);
    return new Map(Array.from(found).filter(([, subject]) => door.isOpen(subject)));
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

/** The subject that the visitor may enter now, and the rights that let them. */
export async function findOpenSubject<S extends DoorSubject>(
  db: Db,
  door: Door<S>,
  { credential, ...visitor }: Pick<Visitor, 'subjectId' | 'actorId' | 'credential'>,
): Promise<{ subject: S; bindings: readonly Binding[] }> {
  const subject = (await door.find(db, [visitor.subjectId])).get(visitor.subjectId);
  const bindings = credential ? await currentBindings(db, refreshBindings, { credential }) : [];
  if (!subject || !bindings || !mayEnter(door, subject, visitor, bindings))
    throw new AccessRefusedError('forbidden', door.forbiddenMessage);
  if (!door.isOpen(subject)) throw new AccessRefusedError('not_active', `The ${door.subject} is not active.`);
  return { subject, bindings };
}

function keyOf(
  { subject, permission }: Pick<Door, 'subject' | 'permission'>,
  { subjectId, actorId, credential }: Visitor,
): string {
  const shown = credential ? serializeCredential(credential) : '';
  return `${subject} ${permission} ${subjectId} ${actorId} ${shown}`;
}
