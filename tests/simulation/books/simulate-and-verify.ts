import { openDatabase } from '@gpuaas/control-plane/platform/db/database';
import { createTestDatabase } from '@gpuaas/control-plane/platform/db/testing';
import { expectBooksHold } from './expect-books-hold.ts';
import { simulate, type Simulation, type SimulationOptions } from './virtual-time.ts';

/** Runs virtual time in a separate database, and compares the books with the simulated events. */
export async function simulateAndVerify(options: SimulationOptions): Promise<Simulation> {
  const test = await createTestDatabase();
  const database = openDatabase(test.url);
  try {
    const simulation = await simulate(database, options);
    await expectBooksHold(database.db, simulation);
    return simulation;
  } finally {
    await database.close();
    await test.drop();
  }
}
