import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Logger } from '../telemetry/logger.ts';
import { LEASE_SECONDS } from './consumer-lease.ts';
import { RELAY } from './nats-relay.ts';

/**
 * For an installation without NATS: removes the cursor of a former relay, which would be reported as late and
 * block retention indefinitely. Nothing is lost: the stream itself holds where a relay continues.
 */
export async function retireRelay(db: Db): Promise<'retired' | 'running'> {
  await sql`delete from event_consumers where name = ${RELAY} and lease_expires_at < now()`.execute(db);
  const { rows } = await sql`select from event_consumers where name = ${RELAY}`.execute(db);
  return rows.length === 0 ? 'retired' : 'running';
}

/** Retires the relay now, and again after the lease of a recently killed relay has expired. */
export async function startRetiringRelay(db: Db, log: Logger): Promise<{ stop(): void }> {
  if ((await retireRelay(db)) === 'retired') return { stop: () => undefined };
  const again = setTimeout(
    () => {
      retireRelay(db)
        .then((found) => {
          if (found === 'running') log.warn('a relay of another process runs, but NATS_URL is not set here');
        })
        .catch((error: unknown) => log.warn({ err: error }, 'the relay could not be retired'));
    },
    (LEASE_SECONDS + 1) * 1000,
  );
  return { stop: () => clearTimeout(again) };
}
