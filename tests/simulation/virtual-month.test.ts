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

describe('a virtual month of leases, silences, crashes and corrections', () => {
  it('adds up to the micro-unit', async () => {
    const simulation = await simulate(database, { seed: 1, steps: 36, hosts: 4, tenants: 5, launches: 5 });
    expect(simulation.leases).toBeGreaterThan(50);
    expect(simulation.crashes).toBeGreaterThan(0);
    await expectBooksHold(database.db, simulation);
  });
});
