import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase, type Database } from '../../platform/db/database.ts';
import { createTestDatabase } from '../../platform/db/testing.ts';
import { retireDemoPeople } from './retire-demo-people.ts';
import { demoPeople, seedDemoPeople } from './seed-demo-people.ts';

let test: { url: string; drop(): Promise<void> };
let database: Database;

beforeAll(async () => {
  test = await createTestDatabase();
  database = openDatabase(test.url);
});
afterAll(async () => {
  await database?.close();
  await test?.drop();
});

it('ends the keys of the demo people, under any address of the embedded provider, and of no other person', async () => {
  const now = new Date();
  const retired = await database.db.transaction().execute(async (tx) => {
    for (const issuer of ['http://127.0.0.1:8080/idp', 'http://127.0.0.1:9090/idp'])
      await seedDemoPeople(tx, issuer, new Map());
    // A person of a real provider with the name of a demo person.
    await tx
      .updateTable('users')
      .set({ email: 'somebody@example.com' })
      .where('issuer', '=', 'http://127.0.0.1:9090/idp')
      .where('subject', '=', 'member')
      .execute();
    return await retireDemoPeople(tx, now);
  });
  expect(retired).toBe(2 * demoPeople.length - 1);
  const good = await database.db
    .selectFrom('api_keys as k')
    .innerJoin('users as u', 'u.id', 'k.user_id')
    .select('u.email')
    .where('k.revoked_at', 'is', null)
    .execute();
  expect(good).toEqual([{ email: 'somebody@example.com' }]);
});
