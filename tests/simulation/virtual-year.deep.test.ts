import { openDatabase, type Database } from '@gpuaas/control-plane/platform/db/database';
import { createTestDatabase } from '@gpuaas/control-plane/platform/db/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectBooksHold } from './expect-books-hold.ts';
import { simulate } from './virtual-time.ts';

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

describe('a virtual year of leases, silences, crashes and corrections', () => {
  it.each([11, 12])('adds up to the micro-unit (seed %i)', async (seed) => {
    const simulation = await simulate(database, { seed, steps: 440, hosts: 6, tenants: 20, launches: 12 });
    expect(simulation.leases).toBeGreaterThan(2000);
    expect(simulation.crashes).toBeGreaterThan(0);
    await expectBooksHold(database.db, simulation);
  });
});
