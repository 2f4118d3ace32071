import { sql } from 'kysely';
import { dropBlobs } from '../../../platform/blobs/keep-blob.ts';
import type { Db } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';

const BATCH = 200;

/** Deletes logs, and later the instances themselves, when the policies no longer keep them. */
export const pruneApps: Tick<Services> = {
  name: 'apps.prune',
  everySeconds: 3600,
  catchUp: 'skip',
  async run({ db, policies }) {
    const { rows } = await sql<{ id: string }>`
      select distinct organization_id as id from app_log_pieces`.execute(db);
    for (const { id } of rows)
      await pruneLogs(db, id, policies.get('apps.log_retention_days', { organizationId: id }));
    await pruneInstances(db, policies.get('apps.retention_days'));
  },
};

async function pruneLogs(db: Db, organizationId: string, days: number): Promise<void> {
  for (let deleted = BATCH; deleted === BATCH;) {
    deleted = await db.transaction().execute(async (tx) => {
      const { rows } = await sql<{ id: string }>`
        delete from app_log_pieces where id in (
          select p.id from app_log_pieces p join app_instance_members m on m.id = p.member_id
          where p.organization_id = ${organizationId} and m.ended_at < now() - make_interval(days => ${days})
          limit ${BATCH})
        returning id`.execute(tx);
      for (const { id } of rows) await dropBlobs(tx, { subjectType: 'app_log', subjectId: id });
      return rows.length;
    });
  }
}

/** Only what is proven to be gone, and what no later attempt refers to; its logs went before. */
async function pruneInstances(db: Db, days: number): Promise<void> {
  await sql`
    delete from app_instances i where i.ended_at < now() - make_interval(days => ${days})
      and not exists (select from app_instance_members m where m.instance_id = i.id and m.teardown is null)
      and not exists (select from app_log_pieces p join app_instance_members m on m.id = p.member_id
        where m.instance_id = i.id)
      and not exists (select from app_instances later where later.retry_of = i.id)`.execute(db);
}
