import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import { platformPermissions } from '@gpuaas/contracts/generated/permissions.ts';
import type { Scope as DatabaseScope } from '../db/scope.ts';
import type { CallerIdentity } from '../http/caller-identity.ts';
import { notFound, Problem } from '../http/problem.ts';

/** Rights at a scope, within the limits of the request's credential. */
export interface Binding {
  /** A built-in group's key, or the name of a tenant's own group. */
  group: string;
  permissions: readonly Permission[];
  scope: 'platform' | 'tenant' | 'project' | 'team';
  organizationId: string | null;
  projectId: string | null;
  /** Set for a team that the person manages. */
  teamId?: string | null;
}

export type Credential =
  | { kind: 'api_key'; id: string; scopes: readonly string[] | null }
  | { kind: 'sign_in'; csrfToken: string; idHash: Buffer; idleSeconds: number }
  | { kind: 'service_account_token'; id: string }
  /** Of an app instance: acts for the person or program that created it, within what its manifest declares. */
  | { kind: 'app_instance_token'; id: string }
  | {
      kind: 'access_token';
      issuer: string;
      subject: string;
      ofPlatform: boolean;
      issuedAt: Date;
      expiresAt: Date;
    };

/** An authenticated person or program, with its rights at this request. */
export interface Caller extends CallerIdentity {
  /** Null for a service account; `id` names either. */
  userId: string | null;
  /**
   * The responsible person: the user, or the owner of the service account; null for one that passed to its
   * project.
   */
  ownerUserId: string | null;
  email: string;
  name: string;
  /** Tenants with an active membership, whatever its rights. */
  organizationIds: readonly string[];
  bindings: Binding[];
  credential: Credential;
}

export type Scope =
  | { kind: 'platform' }
  | { kind: 'tenant'; organizationId: string }
  | { kind: 'project'; organizationId: string; projectId: string }
  | { kind: 'team'; organizationId: string; teamId: string };

/** The scope of operators. */
export const atPlatform: Scope = { kind: 'platform' };

/** Permissions at a scope: those bound there and above it. */
export function permissionsAt(bindings: readonly Binding[], scope: Scope): Set<Permission> {
  return new Set(bindings.filter((binding) => covers(binding, scope)).flatMap((b) => b.permissions));
}

/**
 * Permissions held somewhere in the tenant: at it, or in any of its projects. Managing a team grants nothing
 * beyond the team.
 */
export function permissionsAnywhere(bindings: readonly Binding[], organizationId: string): Set<Permission> {
  const own = bindings.filter((b) => b.organizationId === organizationId && b.scope !== 'team');
  return new Set(own.flatMap((b) => b.permissions));
}

/**
 * Throws unless the caller holds the permission. A caller outside the tenant gets the answer of a missing
 * resource, so that ids cannot be probed.
 */
export function authorize(caller: Caller, permission: Permission, scope: Scope): void {
  decide(
    caller,
    permission,
    permissionsAt(caller.bindings, scope),
    scope.kind === 'platform' ? null : scope.organizationId,
  );
}

/** A row of a project in which the caller holds the permission; any other one is answered like a missing one. */
export function requireInProject<Row extends { organization_id: string; project_id: string }>(
  caller: Caller,
  permission: Permission,
  row: Row | undefined,
): Row {
  if (!row) throw notFound();
  const { organization_id: organizationId, project_id: projectId } = row;
  authorize(caller, permission, { kind: 'project', organizationId, projectId });
  return row;
}

/** A row that a whole tenant shares, such as the list of its members; a right in one project is enough. */
export function authorizeAnywhere(caller: Caller, permission: Permission, organizationId: string): void {
  decide(caller, permission, permissionsAnywhere(caller.bindings, organizationId), organizationId);
}

/** Throws if no binding of the caller grants the operation's permission, before anything else is read. */
export function requirePermission(
  { bindings }: Pick<Caller, 'bindings'>,
  { 'x-permission': permission }: { 'x-permission'?: string },
): void {
  if (permission === undefined || permission === 'self') return;
  const isHeld = bindings.some(({ permissions }) => permissions.some((one) => one === permission));
  if (!isHeld) throw forbidden(permission);
}

function forbidden(permission: string): Problem {
  return new Problem('forbidden', `Requires the permission ${permission}.`, { extensions: { permission } });
}

function decide(
  caller: Caller,
  permission: Permission,
  held: ReadonlySet<Permission>,
  organizationId: string | null,
): void {
  if (held.has(permission)) {
    caller.authorised = true;
    return;
  }
  if (organizationId !== null && !caller.organizationIds.includes(organizationId)) throw notFound();
  throw forbidden(permission);
}

/** A key with scopes is limited to them, also for resources of its owner. */
export function isScoped({ credential }: Pick<Caller, 'credential'>): boolean {
  return (
    credential.kind === 'app_instance_token' || (credential.kind === 'api_key' && credential.scopes !== null)
  );
}

/** For matters of the credential's owner only: their keys, sign-ins and memberships. */
export function requireUnscopedCredential(caller: Pick<Caller, 'credential'>): void {
  if (!isScoped(caller)) return;
  throw new Problem(
    'forbidden',
    "A limited credential cannot manage its owner's credentials or memberships.",
  );
}

/**
 * An operator's rights count only where the operation requires one; everything else is done as a tenant, even
 * by a person who is both.
 */
export function scopeOf(
  caller: Pick<Caller, 'id' | 'bindings' | 'organizationIds'>,
  permission: string | undefined,
): DatabaseScope {
  const isOperator = caller.bindings.some((binding) => binding.scope === 'platform');
  if (isOperator && permission !== undefined && Object.hasOwn(platformPermissions, permission)) {
    return { role: 'gpuaas_operator', callerId: caller.id };
  }
  return { role: 'gpuaas_tenant', organizationIds: caller.organizationIds, callerId: caller.id };
}

function covers(binding: Binding, scope: Scope): boolean {
  if (scope.kind === 'platform') return binding.scope === 'platform';
  if (binding.scope === 'tenant') return binding.organizationId === scope.organizationId;
  if (scope.kind === 'team') return binding.scope === 'team' && binding.teamId === scope.teamId;
  return scope.kind === 'project' && binding.scope === 'project' && binding.projectId === scope.projectId;
}
