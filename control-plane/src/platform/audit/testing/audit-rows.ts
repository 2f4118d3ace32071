import { generateKeyPairSync } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { systemClock } from '../../clock.ts';
import type { Db } from '../../db/database.ts';
import type { AuditKey } from '../../keys/platform-keys.ts';
import { sealRows } from '../seal.ts';
import { present } from '../../present.ts';

export function newAuditKey(): AuditKey {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { id: 'test', privateKey, publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString() };
}

/** Rows as the platform writes them, in bulk. */
export async function writeRows(db: Db, count: number, at = 'now()'): Promise<void> {
  await sql`
    insert into audit_logs (id, occurred_at, actor_user_id, actor_role, action, target_type, target_id, result,
      correlation_id, organization_id, detail)
    select gen_random_uuid(), ${sql.raw(at)}, gen_random_uuid(), 'fleet_operator', 'slot.approve', 'node', 'node-' || n,
      'succeeded', gen_random_uuid(), null, jsonb_build_object('n', n)
    from generate_series(1, ${count}::integer) n`.execute(db);
}

/** Seals until `count` rows are sealed: other databases of the server may hold the horizon back for a while. */
export async function sealAll(db: Db, audit: AuditKey, count: number): Promise<void> {
  for (let tries = 0; tries < 3000; tries += 1) {
    await sealRows({ db, clock: systemClock, keys: { audit } });
    const { rows } = await sql<{ sealed: string }>`
      select coalesce(sum(row_count), 0)::text as sealed from audit_segments`.execute(db);
    if (Number(present(rows[0], 'row').sealed) >= count) return;
    await pause(20);
  }
  throw new Error('the log was not sealed in time');
}
