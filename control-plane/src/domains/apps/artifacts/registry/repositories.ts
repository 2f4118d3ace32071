import { sql } from 'kysely';
import { atPlatform, authorize, requireInProject, type Caller } from '../../../../platform/auth/caller.ts';
import type { Tx } from '../../../../platform/db/database.ts';
import { Problem } from '../../../../platform/http/problem.ts';
import { newId } from '../../../../platform/ids.ts';
import type { Policies } from '../../../../platform/policy/policies.ts';
import { findProject } from '../../../tenancy/projects/find-project.ts';
import { OciError } from './oci-error.ts';
import type { RepositoryPath } from './targets.ts';

export interface Repository {
  id: string;
  /** Null for the platform's own. */
  organizationId: string | null;
  projectId: string | null;
  path: string;
}

export type RegistryRight = 'registry.read' | 'registry.push' | 'registry.delete';

/** A repository in which the caller has the right; the platform's own are readable to every caller. */
export async function findRepository(
  tx: Tx,
  caller: Caller,
  right: RegistryRight,
  { projectId, name, path }: RepositoryPath,
): Promise<Repository> {
  if (projectId === null) authorizeSystem(caller, right);
  const row = await tx
    .selectFrom('registry_repositories')
    .select(['id', 'organization_id', 'project_id'])
    .where('project_id', projectId === null ? 'is' : '=', projectId)
    .where('name', '=', name)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (!row) {
    // Whether the caller may know is answered first.
    if (projectId !== null) await findProject(tx, caller, right, projectId);
    throw new OciError(404, 'NAME_UNKNOWN', 'There is no such repository.');
  }
  const { id, organization_id: organizationId, project_id } = row;
  if (organizationId !== null && project_id !== null)
    requireInProject(caller, right, { organization_id: organizationId, project_id });
  return { id, organizationId, projectId: project_id, path };
}

/** The repository of a push, which makes it if there is none. */
export async function ensureRepository(
  { policies }: { policies: Policies },
  tx: Tx,
  caller: Caller,
  target: RepositoryPath,
): Promise<Repository> {
  return await makeRepository(policies, tx, await ownerOf(tx, caller, target), target);
}

/** One of the platform's own repositories, made if there is none. The caller's right was judged before. */
export async function ensureSystemRepository(
  { policies }: { policies: Policies },
  tx: Tx,
  name: string,
): Promise<Repository> {
  return await makeRepository(policies, tx, null, { projectId: null, name, path: `system/${name}` });
}

async function makeRepository(
  policies: Policies,
  tx: Tx,
  organizationId: string | null,
  target: RepositoryPath,
): Promise<Repository> {
  const known = await findKnown(tx, target);
  if (known) return { id: known, organizationId, projectId: target.projectId, path: target.path };
  // Creations of one project are serial from here to their commit.
  const lock = `registry_repositories ${target.projectId}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`.execute(tx);
  const made = await findKnown(tx, target);
  if (made) return { id: made, organizationId, projectId: target.projectId, path: target.path };
  if (organizationId !== null) await requireRoom(policies, tx, organizationId, target.projectId);
  const id = newId();
  await tx
    .insertInto('registry_repositories')
    .values({ id, organization_id: organizationId, project_id: target.projectId, name: target.name })
    .execute();
  return { id, organizationId, projectId: target.projectId, path: target.path };
}

async function ownerOf(tx: Tx, caller: Caller, { projectId }: RepositoryPath): Promise<string | null> {
  if (projectId !== null) {
    const project = await findProject(tx, caller, 'registry.push', projectId, { staysOpen: true });
    return project.organization_id;
  }
  authorizeSystem(caller, 'registry.push');
  return null;
}

function authorizeSystem(caller: Caller, right: RegistryRight): void {
  if (right === 'registry.read') caller.authorised = true;
  else authorize(caller, 'system_registry.manage', atPlatform);
}

async function findKnown(tx: Tx, { projectId, name }: RepositoryPath): Promise<string | null> {
  const row = await tx
    .selectFrom('registry_repositories')
    .select('id')
    .where('project_id', projectId === null ? 'is' : '=', projectId)
    .where('name', '=', name)
    .where('deleted_at', 'is', null)
    .forKeyShare()
    .executeTakeFirst();
  return row?.id ?? null;
}

async function requireRoom(
  policies: Policies,
  tx: Tx,
  organizationId: string,
  projectId: string | null,
): Promise<void> {
  const maximum = policies.get('registry.max_repositories_per_project', { organizationId });
  const { count } = await tx
    .selectFrom('registry_repositories')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  if (count < maximum) return;
  throw new Problem('limit_reached', `The project may have ${maximum} repositories.`);
}
