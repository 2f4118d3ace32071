import { migrate } from '@gpuaas/control-plane/platform/db/migrate';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openOlderDatabase } from '../../harness/older-database.ts';

let older: Awaited<ReturnType<typeof openOlderDatabase>>;
let db: pg.Client;

const id = (number: number): string => `00000000-0000-7000-8000-00000000000${number}`;

/** As the last release wrote them in which projects had no team. */
const OLD_ROWS = `
  insert into organizations (id, name) values ('${id(1)}', 'plain'), ('${id(2)}', 'named'), ('${id(3)}', 'closed');
  update organizations set deleted_at = now() where name = 'closed';
  insert into projects (id, organization_id, name, deleted_at) values
    ('${id(4)}', '${id(1)}', 'a', null), ('${id(5)}', '${id(1)}', 'gone', now()),
    ('${id(6)}', '${id(2)}', 'b', null), ('${id(7)}', '${id(3)}', 'c', now());
  insert into users (id, issuer, subject, email, name) values ('${id(8)}', 'i', 's', 'a@example.com', 'A');
  insert into organization_members (id, organization_id, user_id) values ('${id(8)}', '${id(2)}', '${id(8)}');
  insert into teams (id, organization_id, name) values ('${id(9)}', '${id(2)}', 'named');
  insert into team_members (team_id, user_id, organization_id) values ('${id(9)}', '${id(8)}', '${id(2)}');
`;

beforeAll(async () => {
  older = await openOlderDatabase('0121_workflow_queues', OLD_ROWS);
  await migrate(older.url);
  db = new pg.Client({ connectionString: older.url });
  await db.connect();
});
afterAll(async () => {
  await db?.end();
  await older?.end();
});

const owners = async () =>
  (
    await db.query<{ project: string; team: string; is_default: boolean }>(
      `select p.name as project, t.name as team, t.is_default from projects p
       join teams t on t.organization_id = p.organization_id and t.id = p.team_id order by p.name`,
    )
  ).rows;

describe('a database whose projects had no team, when it is migrated', () => {
  it('gives each organization a default team that owns its projects', async () => {
    expect(await owners()).toEqual([
      { project: 'a', team: 'plain', is_default: true },
      { project: 'b', team: 'named default', is_default: true },
      { project: 'c', team: 'closed', is_default: true },
      { project: 'gone', team: 'plain', is_default: true },
    ]);
    const { rows } = await db.query(
      'select t.is_default, m.role from teams t join team_members m on m.team_id = t.id',
    );
    expect(rows).toEqual([{ is_default: false, role: 'member' }]);
  });

  it('takes organizations and projects from processes of the release before', async () => {
    const [organization, first, second] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
    await db.query('insert into organizations (id, name) values ($1, $2)', [organization, 'late']);
    const insert = 'insert into projects (id, organization_id, name) values ($1, $2, $3)';
    await db.query(insert, [first, organization, 'x']);
    await db.query(insert, [second, organization, 'y']);
    expect((await owners()).filter(({ team }) => team === 'late')).toEqual([
      { project: 'x', team: 'late', is_default: true },
      { project: 'y', team: 'late', is_default: true },
    ]);
  });
});
