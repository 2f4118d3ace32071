import { access, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { LabLog } from './lab-log.ts';

const POLL_MS = 1_000;

export interface HostFolder {
  hostname: string;
  dir: string;
}

/**
 * The operator of the lab: puts a new token into the folder of an agent that cannot continue with its
 * identity.
 */
export async function replaceFailedIdentities(
  host: HostFolder,
  mintToken: () => Promise<string>,
  log: LabLog,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    try {
      if (await needsToken(host.dir)) {
        log.warn({ hostname: host.hostname }, 'node agent needs a new identity');
        const token = join(host.dir, 'enrolment-token');
        await writeFile(`${token}.tmp`, await mintToken(), { mode: 0o600 });
        await rename(`${token}.tmp`, token);
      }
    } catch (error) {
      log.warn({ hostname: host.hostname, reason: String(error) }, 'no token for the node agent');
    }
    await pause(POLL_MS, null, { signal: stopping }).catch(() => undefined);
  }
}

async function needsToken(dir: string): Promise<boolean> {
  const problem = await readFile(join(dir, 'identity-problem.json'), 'utf8').catch(() => null);
  if (problem === null || problem.includes('"clock_wrong"')) return false;
  return await access(join(dir, 'enrolment-token')).then(
    () => false,
    () => true,
  );
}
