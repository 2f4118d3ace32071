import { sql } from 'kysely';
import { inScope } from '../../../platform/db/scope.ts';
import type { Services } from '../../../platform/services.ts';

/** The runtime looks at the member, and brings its log, before the interval is over. Nothing changes if it has ended. */
export async function lookSoon({ db }: Pick<Services, 'db'>, memberId: string): Promise<void> {
  await inScope(db, { role: 'gpuaas_worker' }, (tx) =>
    sql`
      update app_instance_members set observe_at = now()
      where id = ${memberId} and ended_at is null and observe_at > now()`.execute(tx),
  );
}
