import { covers } from '@gpuaas/control-plane/domains/billing/funds/covers';
import { openDatabase, type Database } from '@gpuaas/control-plane/platform/db/database';
import { createTestDatabase } from '@gpuaas/control-plane/platform/db/testing';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';

let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => {
  const made = await createTestDatabase();
  drop = made.drop;
  database = openDatabase(made.url, { max: 1 });
});
afterAll(async () => {
  await database?.close();
  await drop?.();
});

const rate = fc.bigInt(0n, 2n ** 55n);
const seconds = fc.integer({ min: 0, max: 2_592_000 });
const cost = (perHour: bigint, time: number): bigint => (perHour * BigInt(time)) / 3600n;

/** Money about as much as is needed, where the two could differ by rounding, and any other. */
const values = fc.tuple(rate, seconds, rate, seconds).chain(([perHour, time, kept, keptTime]) => {
  const needed = cost(perHour, time) + cost(kept, keptTime);
  const most = 2n ** 62n;
  const near = fc.bigInt(-2n, 2n).map((more) => (needed + more > most ? most : needed + more));
  return fc.tuple(
    fc.oneof(near, fc.bigInt(-most, most)),
    fc.constant(perHour),
    fc.constant(time),
    fc.constant(kept),
    fc.constant(keptTime),
  );
});

it('`covers` says the same in the database and in the code', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(values, { minLength: 200, maxLength: 200 }), async (all) => {
      const rows = all.map(([a, b, c, d, e]) => ({ a: String(a), b: String(b), c, d: String(d), e }));
      const { rows: answers } = await sql<{ covered: boolean }>`
        select covers(v.a, v.b, v.c, v.d, v.e) as covered
        from rows from (json_to_recordset(${JSON.stringify(rows)})
          as (a bigint, b bigint, c integer, d bigint, e integer)) with ordinality as v (a, b, c, d, e, place)
        order by v.place`.execute(database.db);
      expect(answers.map(({ covered }) => covered)).toEqual(all.map((one) => covers(...one)));
    }),
    { numRuns: 20 },
  );
});
