import { queryOptions, useQuery } from '@tanstack/react-query';
import { useRouterState } from '@tanstack/react-router';
import { readMe } from '@gpuaas/sdk/me';
import { ProblemError, unwrap } from '@gpuaas/sdk/problem';
import { client } from './client.ts';
import { ME_KEY } from './query-keys.ts';
import type { Me, Organization, Project, PublicProvider } from './types.ts';

/** The signed-in person; null without one. */
export const meQuery = queryOptions({
  queryKey: ME_KEY,
  queryFn: async ({ signal }): Promise<Me | null> => {
    try {
      return await readMe(client, { signal });
    } catch (error) {
      if (error instanceof ProblemError && error.problem.status === 401) return null;
      throw error;
    }
  },
  staleTime: 60_000,
});

export function useMe(): Me | null {
  return useQuery(meQuery).data ?? null;
}

export interface ProjectChoice {
  organization: Organization;
  project: Project;
}

/** Every project the person belongs to, in the order the API gives. */
export function projectsOf(me: Me): ProjectChoice[] {
  return me.organizations.flatMap((organization) =>
    organization.projects.map((project) => ({ organization, project })),
  );
}

/** The project named by `?project=`, else the first one; null for people without any. */
export function useProject(): ProjectChoice | null {
  const me = useMe();
  const wanted = useRouterState({
    select: (state) => (state.location.search as { project?: string }).project,
  });
  if (!me) return null;
  const all = projectsOf(me);
  return all.find(({ project }) => project.id === wanted) ?? all[0] ?? null;
}

export function hasPlatformPermission(me: Me | null, permission: string): boolean {
  return me?.platform_permissions.includes(permission) ?? false;
}

/** Permissions in one project: those bound to the project and those bound to its organization. */
export function hasProjectPermission(me: Me | null, projectId: string, permission: string): boolean {
  const choice = me && projectsOf(me).find(({ project }) => project.id === projectId);
  if (!choice) return false;
  return (
    choice.project.permissions.includes(permission) || choice.organization.permissions.includes(permission)
  );
}

/**
 * Permissions in an organization: those bound to it, and for `anywhere` those bound to any of its projects.
 */
export function hasOrganizationPermission(
  me: Me | null,
  organizationId: string,
  permission: string,
  reach: 'organization' | 'anywhere' = 'organization',
): boolean {
  const organization = me?.organizations.find(({ id }) => id === organizationId);
  if (!organization) return false;
  if (organization.permissions.includes(permission)) return true;
  return reach === 'anywhere' && organization.projects.some((one) => one.permissions.includes(permission));
}

/** Why a button of the organization is disabled; null when the person holds the permission. */
export function useOrganizationDisabledReason(organizationId: string, permission: string): string | null {
  const me = useMe();
  return hasOrganizationPermission(me, organizationId, permission)
    ? null
    : `Requires ${permission} in this organization`;
}

export function useProjectDisabledReason(projectId: string, permission: string): string | null {
  const me = useMe();
  return hasProjectPermission(me, projectId, permission) ? null : `Requires ${permission} in this project`;
}

export function usePlatformDisabledReason(permission: string): string | null {
  const me = useMe();
  return hasPlatformPermission(me, permission) ? null : `Requires ${permission}`;
}

/** Ends the sign-in here and at the identity provider, and leaves the page so that nothing of it stays in memory. */
export async function signOut() {
  const { redirect_to: provider } = await unwrap(client.POST('/auth/logout'));
  location.assign(provider ?? '/');
}

/** Where to sign in: at a named provider, or at the one of an address. */
export type SignInChoice = { provider: 'platform' | PublicProvider } | { email: string };

export function signInPath(returnTo: string, choice?: SignInChoice): string {
  const query = new URLSearchParams({ return_to: returnTo });
  if (choice && 'provider' in choice) query.set('provider', choice.provider);
  if (choice && 'email' in choice) query.set('login_hint', choice.email);
  return `/auth/login?${query.toString()}`;
}
