import { sql } from 'kysely';
import type { Tx } from '../db/database.ts';
import { given } from '../db/given.ts';
import { newId } from '../ids.ts';
import type { PolicyScope } from './policies.ts';

export interface PolicyValueChange {
  key: string;
  scope: PolicyScope;
  /** Undefined if no value is set. */
  before: unknown;
  after: unknown;
  actorId: string;
  actorRole: string;
  reason: string;
  correlationId: string;
}

/** Locks the value set at this scope; concurrent writers block until commit. */
export async function lockPolicyValue(tx: Tx, key: string, scope: PolicyScope): Promise<unknown> {
  const name = `policy ${key} ${scope.organizationId ?? ''} ${scope.projectId ?? ''}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx);
  return (await readValues(tx, scope, key)).get(key);
}

/** Values set at the scope itself, by key. */
export async function readValues(tx: Tx, scope: PolicyScope, key?: string): Promise<Map<string, unknown>> {
  const rows = await tx
    .selectFrom('policy_values')
    .select(['key', 'value'])
    .where('organization_id', 'is not distinct from', scope.organizationId ?? null)
    .where('project_id', 'is not distinct from', scope.projectId ?? null)
    .$call(given(key, (q, value) => q.where('key', '=', value)))
    .execute();
  return new Map(rows.map((row) => [row.key, row.value]));
}

/** Writes the value and its history; `after` undefined clears the value. Returns the id of the change. */
export async function writeChange(tx: Tx, change: PolicyValueChange): Promise<string> {
  const { key, scope, before, after } = change;
  const organization_id = scope.organizationId ?? null;
  const project_id = scope.projectId ?? null;
  if (after === undefined) {
    await tx
      .deleteFrom('policy_values')
      .where('key', '=', key)
      .where('organization_id', 'is not distinct from', organization_id)
      .where('project_id', 'is not distinct from', project_id)
      .execute();
  } else {
    await tx
      .insertInto('policy_values')
      .values({ key, organization_id, project_id, value: JSON.stringify(after) })
      .onConflict((c) =>
        c
          .columns(['key', 'organization_id', 'project_id'])
          .doUpdateSet({ value: JSON.stringify(after), changed_at: sql`now()` }),
      )
      .execute();
  }
  const id = newId();
  await tx
    .insertInto('policy_changes')
    .values({
      id,
      key,
      organization_id,
      project_id,
      before: before === undefined ? null : JSON.stringify(before),
      after: after === undefined ? null : JSON.stringify(after),
      actor_id: change.actorId,
      actor_role: change.actorRole,
      reason: change.reason,
      correlation_id: change.correlationId,
    })
    .execute();
  return id;
}
