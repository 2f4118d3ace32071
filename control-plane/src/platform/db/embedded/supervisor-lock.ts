import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgresError, errorCode } from './errors.ts';
import { isRunning, processStartStamp } from './processes.ts';

const heldHere = new Set<string>();

/**
 * One platform process per data folder. Without this a second start would adopt the first one's
 * Postgres as an orphan and later stop it under its feet.
 */
export async function takeSupervisorLock(dataDir: string): Promise<() => Promise<void>> {
  const path = join(dataDir, 'postgres.supervisor');
  if (heldHere.has(path) || (await holderRuns(path))) {
    throw new EmbeddedPostgresError(
      'in_use',
      `The data folder ${dataDir} is in use by another running platform process (see ${path}).`,
    );
  }
  heldHere.add(path);
  try {
    await rm(path, { force: true });
    await writeFile(path, `${process.pid} ${await processStartStamp(process.pid)}\n`, {
      mode: 0o600,
      flag: 'wx',
    });
  } catch (error) {
    heldHere.delete(path);
    if (errorCode(error) !== 'EEXIST') throw error;
    throw new EmbeddedPostgresError(
      'in_use',
      `Another platform process just took the data folder ${dataDir}.`,
    );
  }
  return async () => {
    await rm(path, { force: true });
    heldHere.delete(path);
  };
}

async function holderRuns(path: string): Promise<boolean> {
  const [pid, stamp] = (await readFile(path, 'utf8').catch(() => '')).trim().split(' ');
  // A lock with our own pid that we do not hold was left by an earlier process with that number.
  if (!pid || Number(pid) === process.pid) return false;
  if (!(await isRunning(Number(pid)))) return false;
  return (stamp ?? '') === (await processStartStamp(Number(pid)));
}
