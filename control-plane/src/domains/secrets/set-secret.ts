import { sql } from 'kysely';
import type { Caller } from '../../platform/auth/caller.ts';
import type { Tx } from '../../platform/db/database.ts';
import { emit } from '../../platform/events/emit.ts';
import { Problem } from '../../platform/http/problem.ts';
import { newId } from '../../platform/ids.ts';
import type { Services } from '../../platform/services.ts';
import { findProject } from '../tenancy/projects/find-project.ts';
import { SECRET_COLUMNS, secretContext, type SecretRow } from './describe-secret.ts';

const MAX_BYTES = 32_768;

export interface NewSecret {
  projectId: string;
  name: string;
  value: string;
}

/** Creates a secret, or replaces its value. */
export async function setSecret(
  { sealer }: Pick<Services, 'sealer'>,
  tx: Tx,
  caller: Caller,
  { projectId, name, value }: NewSecret,
  correlationId: string,
): Promise<SecretRow> {
  const project = await findProject(tx, caller, 'project_secret.write', projectId, { staysOpen: true });
  requireSize(value);
  // Concurrent writers of one secret block until commit: the value is sealed for the row that it ends up in.
  const lock = `project_secret ${project.id} ${name}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`.execute(tx);
  const former = await tx
    .selectFrom('project_secrets')
    .select('id')
    .where('project_id', '=', project.id)
    .where('name', '=', name)
    .executeTakeFirst();
  const id = former?.id ?? newId();
  const set = {
    sealed_value: sealer.seal('project_secret', value, secretContext(id)),
    set_by: caller.id,
    set_by_name: caller.name.slice(0, 320),
  };
  const row = former
    ? await tx
        .updateTable('project_secrets')
        .set({ ...set, version: sql`version + 1`, set_at: sql`now()` })
        .where('id', '=', id)
        .returning(SECRET_COLUMNS)
        .executeTakeFirstOrThrow()
    : await tx
        .insertInto('project_secrets')
        .values({ ...set, id, name, organization_id: project.organization_id, project_id: project.id })
        .returning(SECRET_COLUMNS)
        .executeTakeFirstOrThrow();
  await emit(tx, {
    type: 'project_secret.set',
    subjectId: id,
    organizationId: project.organization_id,
    correlationId,
    payload: {
      secret_id: id,
      organization_id: project.organization_id,
      project_id: project.id,
      name,
      version: row.version,
    },
  });
  return row;
}

/** The contract counts characters; what counts for a process is bytes. */
function requireSize(value: string): void {
  const bytes = Buffer.byteLength(value);
  if (bytes <= MAX_BYTES) return;
  throw new Problem('secret_too_large', `The value has ${bytes} bytes; ${MAX_BYTES} are allowed.`, {
    extensions: { limit: MAX_BYTES },
    errors: [{ pointer: '/value', detail: `has more than ${MAX_BYTES} bytes` }],
  });
}
