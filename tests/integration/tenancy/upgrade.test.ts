import { migrate } from '@gpuaas/control-plane/platform/db/migrate';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openOlderDatabase } from '../../harness/older-database.ts';

let older: Awaited<ReturnType<typeof openOlderDatabase>>;
let db: pg.Client;

/** As the last release without `sign_ins` wrote them. */
const OLD_ROWS = `
  insert into organizations (id, name) values ('00000000-0000-7000-8000-000000000001', 'old');
  insert into projects (id, organization_id, name)
    values ('00000000-0000-7000-8000-000000000002', '00000000-0000-7000-8000-000000000001', 'old');
  insert into users (id, issuer, subject, email, name)
    values ('00000000-0000-7000-8000-000000000003', 'https://idp.example', 'old', 'old@example.com', 'Old');
  insert into sessions (id_hash, user_id, csrf_token, expires_at)
    values ('\\x01', '00000000-0000-7000-8000-000000000003', 'csrf', now() + interval '1 hour');
  insert into policy_values (key, value) values ('auth.session_idle_seconds', '900'),
    ('auth.session_absolute_seconds', '1800'), ('auth.login_ttl_seconds', '120');
`;

beforeAll(async () => {
  older = await openOlderDatabase('0093_lines_and_machines', OLD_ROWS);
  await migrate(older.url);
  db = new pg.Client({ connectionString: older.url });
  await db.connect();
});
afterAll(async () => {
  await db?.end();
  await older?.end();
});

describe('a database with browsers that are signed in, when it is migrated', () => {
  it('keeps the times that an operator set for them, under the new names', async () => {
    const { rows } = await db.query(
      `select key, value from policy_values where key like 'auth.%' order by key`,
    );
    expect(rows).toEqual([
      { key: 'auth.login_ttl_seconds', value: 120 },
      { key: 'auth.sign_in_absolute_seconds', value: 1800 },
      { key: 'auth.sign_in_idle_seconds', value: 900 },
    ]);
  });

  it('has nobody signed in, because the cookie has another name', async () => {
    expect((await db.query('select from sign_ins')).rows).toEqual([]);
    expect((await db.query(`select to_regclass('sessions') as former`)).rows).toEqual([{ former: null }]);
  });
});
