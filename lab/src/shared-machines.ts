import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { awaitEnrolled, remainingValidityMs, MIN_VALIDITY_MS } from './await-enrolled.ts';
import { startAgentProcess } from './agent-process.ts';
import { replaceFailedIdentities, type HostFolder } from './replace-failed-identities.ts';
import type { LabLog } from './lab-log.ts';
import { waitForGuestsToExit, GUEST_EXIT_TIMEOUT_MS } from './simulated-guests.ts';
import type { SimulatedMachine } from './simulated-machine.ts';

const MANY_MAIN = fileURLToPath(new URL('../../node-agent/src/many-main.ts', import.meta.url));
const TOKENS_AT_A_TIME = 8;

export interface SharedHost extends HostFolder {
  mintToken: () => Promise<string>;
}

export interface SharedMachinesOptions {
  hosts: readonly SharedHost[];
  stateDir: string;
  env: Record<string, string>;
  log: LabLog;
}

/** Many simulated hosts whose agents share one process. A signal to one of them reaches all. */
export async function startSharedMachines(options: SharedMachinesOptions): Promise<SimulatedMachine[]> {
  const { hosts, stateDir, env, log } = options;
  await Promise.all(hosts.map(({ dir }) => mkdir(dir, { recursive: true, mode: 0o700 })));
  const agents = startAgentProcess({
    name: `${hosts.length} hosts`,
    logFile: join(stateDir, 'agents.log'),
    log,
    async prepare() {
      const list = join(stateDir, 'agents.json');
      await writeFile(list, JSON.stringify(await listAgents(hosts)), { mode: 0o600 });
      return { args: [MANY_MAIN, list], env: { ...env, GPUAAS_AGENT_HOST: 'simulated' } };
    },
  });
  const stopping = new AbortController();
  const answered = hosts.map((host) => replaceFailedIdentities(host, host.mintToken, log, stopping.signal));
  let stopped: Promise<void> | null = null;

  async function stopAll(): Promise<void> {
    stopping.abort();
    await agents.stop();
    await Promise.all(answered);
    await Promise.all(hosts.map(({ dir }) => waitForGuestsToExit(dir, GUEST_EXIT_TIMEOUT_MS)));
  }

  return hosts.map((host) => ({
    hostname: host.hostname,
    pid: agents.pid,
    kill: agents.kill,
    enrolled: (deadlineMs) => awaitEnrolled(host, deadlineMs),
    stop: () => (stopped ??= stopAll()),
  }));
}

async function listAgents(hosts: readonly SharedHost[]) {
  const listed: (HostFolder & { token: string | null })[] = [];
  for (let first = 0; first < hosts.length; first += TOKENS_AT_A_TIME) {
    const some = hosts.slice(first, first + TOKENS_AT_A_TIME).map(async ({ dir, hostname, mintToken }) => {
      const enrolled = (await remainingValidityMs(dir)) > MIN_VALIDITY_MS;
      return { dir, hostname, token: enrolled ? null : await mintToken() };
    });
    listed.push(...(await Promise.all(some)));
  }
  return listed;
}
