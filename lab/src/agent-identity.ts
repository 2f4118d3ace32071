import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { HostFolder } from './answer-identity-problems.ts';

/** An agent that starts with less is given a token. */
export const ENOUGH_VALIDITY_MS = 3_600_000;

/** How long the agent's certificate in this state folder is still good; 0 without one. */
export async function identityValidForMs(agentDir: string): Promise<number> {
  try {
    const identity = JSON.parse(await readFile(join(agentDir, 'identity.json'), 'utf8')) as {
      certificate_pem: string;
    };
    const until = new X509Certificate(identity.certificate_pem).validTo;
    return Math.max(0, Date.parse(until) - Date.now());
  } catch {
    return 0;
  }
}

export async function awaitEnrolled({ hostname, dir }: HostFolder, deadlineMs: number): Promise<void> {
  const end = Date.now() + deadlineMs;
  while ((await identityValidForMs(dir)) === 0) {
    if (Date.now() > end) throw new Error(`${hostname} did not enrol in time; see agent.log of ${dir}`);
    await pause(50);
  }
}
