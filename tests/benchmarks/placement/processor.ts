import { readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import type { Db } from '@gpuaas/control-plane/platform/db/database';

const TICK_MICROS = 10_000;

/** Processor time that this process and the processes of its Postgres have used, in microseconds; the latter on Linux. */
export async function processorTime(db: Db): Promise<{ here: number; postgres: number }> {
  const { user, system } = process.cpuUsage();
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
  const postgres = await timeOfServer(rows[0]!.pid).catch(() => NaN);
  return { here: user + system, postgres };
}

/** Of the processes that run, and of those that have ended. */
async function timeOfServer(backend: number): Promise<number> {
  const postmaster = Number((await statOf(backend))[1]);
  const children = await readFile(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8');
  const running = await Promise.all(
    children
      .trim()
      .split(' ')
      .map(async (pid) => ticks(await statOf(Number(pid)), 11, 12)),
  );
  const ended = ticks(await statOf(postmaster), 13, 14);
  return running.reduce((sum, time) => sum + time, ended) * TICK_MICROS;
}

function ticks(stat: string[], ...fields: number[]): number {
  return fields.reduce((sum, field) => sum + Number(stat[field]), 0);
}

/** The fields of `/proc/pid/stat` after the name: state, parent and so on. */
async function statOf(pid: number): Promise<string[]> {
  return (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]!.split(' ');
}
