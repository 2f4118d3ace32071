import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { HostFolder } from './replace-failed-identities.ts';

/** An agent that starts with less is given a token. */
export const MIN_VALIDITY_MS = 3_600_000;

/** Remaining validity of the agent's certificate in this state folder; 0 without one. */
export async function remainingValidityMs(agentDir: string): Promise<number> {
  try {
    const identity: {
      certificate_pem: string;
    } = JSON.parse(await readFile(join(agentDir, 'identity.json'), 'utf8'));
    const until = new X509Certificate(identity.certificate_pem).validTo;
    return Math.max(0, Date.parse(until) - Date.now());
  } catch {
    return 0;
  }
}

export async function awaitEnrolled({ hostname, dir }: HostFolder, deadlineMs: number): Promise<void> {
  const end = Date.now() + deadlineMs;
  while ((await remainingValidityMs(dir)) === 0) {
    if (Date.now() > end) throw new Error(`${hostname} did not enrol in time; see agent.log of ${dir}`);
    await pause(50);
  }
}
