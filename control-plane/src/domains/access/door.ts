import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import type { Credential } from '../../platform/auth/caller.ts';
import type { Db } from '../../platform/db/database.ts';

/** Where a subject belongs: rights to it are rights in its project. */
export interface DoorSubject {
  organizationId: string;
  projectId: string;
}

/**
 * A way into something that runs. The watch lets a visit in while the visitor holds `permission` and the subject is
 * open, and cuts it as soon as either ends.
 */
export interface Door<S extends DoorSubject = DoorSubject> {
  /** Names the kind of subject, for example `allocation`. */
  subject: string;
  permission: Permission;
  /** The subjects as they are now, by id. One that does not exist is missing. */
  find(db: Db, subjectIds: readonly string[]): Promise<Map<string, S>>;
  isOpen(subject: S): boolean;
  /** Whether the subject is shared with the visitor; with everybody who holds the permission if omitted. */
  admits?(subject: S, actorId: string): boolean;
  /** Events about the subject that cut every visit before the next periodic check. */
  endsOn: ReadonlySet<string>;
  /** Shown to visitors when the subject closes. */
  closedMessage: string;
  /** Shown to visitors who lose the permission. */
  forbiddenMessage: string;
  maxVisits(): number;
}

/** A person or service account at a door, with the credential they came with. */
export interface Visitor {
  subjectId: string;
  actorId: string;
  credential: Credential;
  correlationId: string;
}
