import type { Permission } from '@gpuaas/contracts/generated/permissions.ts';
import { platformPermissions } from '@gpuaas/contracts/generated/permissions.ts';
import type { Scope as DatabaseScope } from '../db/scope.ts';
import type { CallerIdentity } from '../http/caller-identity.ts';
import { notFound, Problem } from '../http/problem.ts';

/** Rights at a scope, as far as the credential of the request carries them. */
export interface Binding {
  /** A built-in group's key, or the name of one the tenant made. */
  group: string;
  permissions: readonly Permission[];
  scope: 'platform' | 'tenant' | 'project';
  organizationId: string | null;
  projectId: string | null;
}

export type Credential =
  | { kind: 'api_key'; id: string; scopes: readonly string[] | null }
  | { kind: 'session'; csrfToken: string; idHash: Buffer; idleSeconds: number }
  | { kind: 'service_account_token'; id: string }
  | { kind: 'access_token'; issuer: string; subject: string; ofPlatform: boolean; expiresAt: Date };

/** A person or program that proved who it is, with the rights it holds at this request. */
export interface Caller extends CallerIdentity {
  /** Null for a service account; `id` names either. */
  userId: string | null;
  email: string;
  name: string;
  /** Where it is an active member, whatever it may do there. */
  organizationIds: readonly string[];
  bindings: Binding[];
  credential: Credential;
}

export type Scope =
  | { kind: 'platform' }
  | { kind: 'tenant'; organizationId: string }
  | { kind: 'project'; organizationId: string; projectId: string };

/** Permissions that hold at a scope: those bound there and above it. */
export function permissionsAt(bindings: readonly Binding[], scope: Scope): Set<Permission> {
  return new Set(bindings.filter((binding) => covers(binding, scope)).flatMap((b) => b.permissions));
}

/** Permissions held somewhere in the tenant: at it, or at any of its projects. */
export function permissionsAnywhere(bindings: readonly Binding[], organizationId: string): Set<Permission> {
  return new Set(bindings.filter((b) => b.organizationId === organizationId).flatMap((b) => b.permissions));
}

/**
 * Throws unless the caller holds the permission. Somebody with no standing in the tenant at all gets the
 * answer of a missing resource, so that nothing can be probed.
 */
export function authorize(caller: Caller, permission: Permission, scope: Scope): void {
  decide(
    caller,
    permission,
    permissionsAt(caller.bindings, scope),
    scope.kind === 'platform' ? null : scope.organizationId,
  );
}

/** The same for what a whole tenant shares, such as the list of its members; a right in one project is enough. */
export function authorizeAnywhere(caller: Caller, permission: Permission, organizationId: string): void {
  decide(caller, permission, permissionsAnywhere(caller.bindings, organizationId), organizationId);
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
  throw new Problem('forbidden', `This needs the permission ${permission}.`, { extensions: { permission } });
}

/** A key with scopes does what they name, and nothing else that is its owner's. */
export function isLimited({ credential }: Pick<Caller, 'credential'>): boolean {
  return credential.kind === 'api_key' && credential.scopes !== null;
}

/** For what concerns the owner of a credential alone: their keys, sessions and memberships. */
export function requireWholeCredential(caller: Pick<Caller, 'credential'>): void {
  if (!isLimited(caller)) return;
  throw new Problem('forbidden', 'An API key with scopes has no say in what belongs to its owner.');
}

/**
 * An operator's rights count where the operation asks for one; everything else is done as a tenant, even by
 * somebody who is both.
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
  return scope.kind === 'project' && binding.scope === 'project' && binding.projectId === scope.projectId;
}
