import { sql } from 'kysely';
import type { Db } from '@gpuaas/control-plane/platform/db/database';
import { processorSeconds } from '../processor-seconds.ts';

/** Processor time that this process and its Postgres have used, in microseconds. */
export async function processorTime(db: Db): Promise<{ here: number; postgres: number }> {
  const { user, system } = process.cpuUsage();
  const { rows } = await sql<{ data_directory: string }>`show data_directory`.execute(db);
  return { here: user + system, postgres: processorSeconds(rows[0]!.data_directory) * 1e6 };
}
