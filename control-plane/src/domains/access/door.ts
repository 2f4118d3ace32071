import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import { permissionsAt, type Binding, type Credential } from '../../platform/auth/caller.ts';
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
  /** Whether the visitor with these rights may enter; if omitted, everybody with the permission in the project. */
  admits?(subject: S, visitor: Pick<Visitor, 'actorId'>, rights: readonly Binding[]): boolean;
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
  /** Null for somebody who is not signed in: they have no rights, and the door alone decides. */
  credential: Credential | null;
  correlationId: string;
}

export function mayEnter<S extends DoorSubject>(
  door: Pick<Door<S>, 'permission' | 'admits'>,
  subject: S,
  visitor: Pick<Visitor, 'actorId'>,
  rights: readonly Binding[],
): boolean {
  return door.admits?.(subject, visitor, rights) ?? holdsInProject(door, subject, rights);
}

export function holdsInProject(
  { permission }: Pick<Door, 'permission'>,
  { organizationId, projectId }: DoorSubject,
  rights: readonly Binding[],
): boolean {
  return permissionsAt(rights, { kind: 'project', organizationId, projectId }).has(permission);
}
