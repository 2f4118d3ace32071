import { sql } from 'kysely';
import type { Caller } from '../../../../platform/auth/caller.ts';
import type { Tx } from '../../../../platform/db/database.ts';
import { given } from '../../../../platform/db/given.ts';
import { Problem } from '../../../../platform/http/problem.ts';
import type { Policies } from '../../../../platform/policy/policies.ts';
import { OciError } from './oci-error.ts';
import type { Repository } from './repositories.ts';

/** Points a tag at a manifest; answers the digest that it named before. */
export async function moveTag(
  { policies }: { policies: Policies },
  tx: Tx,
  caller: Caller,
  { id, organizationId }: Repository,
  { name, digest }: { name: string; digest: string },
): Promise<string | null> {
  // Concurrent pushes to one repository move tags in turn, so that each audit row has the right former digest.
  const lock = `registry_tags ${id}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`.execute(tx);
  const former = await tx
    .selectFrom('registry_tags')
    .select('digest')
    .where('repository_id', '=', id)
    .where('name', '=', name)
    .executeTakeFirst();
  if (!former) await requireRoom(policies, tx, id, organizationId);
  const moved = { digest, moved_by: caller.id, moved_by_name: caller.name.slice(0, 320) };
  await tx
    .insertInto('registry_tags')
    .values({ organization_id: organizationId, repository_id: id, name, ...moved })
    .onConflict((c) => c.columns(['repository_id', 'name']).doUpdateSet({ ...moved, moved_at: sql`now()` }))
    .execute();
  return former?.digest ?? null;
}

export async function removeTag(tx: Tx, { id }: Pick<Repository, 'id'>, name: string): Promise<string> {
  const row = await tx
    .deleteFrom('registry_tags')
    .where('repository_id', '=', id)
    .where('name', '=', name)
    .returning('digest')
    .executeTakeFirst();
  if (!row) throw new OciError(404, 'MANIFEST_UNKNOWN', 'The repository has no such tag.', { tag: name });
  return row.digest;
}

/** Names behind `last` in the order of their bytes, with one more than asked for. */
export async function listTagNames(
  tx: Tx,
  { id }: Repository,
  { limit, last }: { limit: number; last: string | undefined },
): Promise<string[]> {
  const rows = await tx
    .selectFrom('registry_tags')
    .select('name')
    .where('repository_id', '=', id)
    .$call(given(last, (q, value) => q.where('name', '>', value)))
    .orderBy('name')
    .limit(limit + 1)
    .execute();
  return rows.map(({ name }) => name);
}

async function requireRoom(
  policies: Policies,
  tx: Tx,
  repositoryId: string,
  organizationId: string | null,
): Promise<void> {
  const scope = organizationId === null ? {} : { organizationId };
  const maximum = policies.get('registry.max_tags_per_repository', scope);
  const { count } = await tx
    .selectFrom('registry_tags')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('repository_id', '=', repositoryId)
    .executeTakeFirstOrThrow();
  if (count < maximum) return;
  throw new Problem('limit_reached', `The repository may have ${maximum} tags.`);
}
