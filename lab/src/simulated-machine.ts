import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { awaitEnrolled, remainingValidityMs, MIN_VALIDITY_MS } from './await-enrolled.ts';
import { startAgentProcess } from './agent-process.ts';
import { replaceFailedIdentities } from './replace-failed-identities.ts';
import type { LabLog } from './lab-log.ts';
import { waitForGuestsToExit, GUEST_EXIT_TIMEOUT_MS } from './simulated-guests.ts';

const AGENT_MAIN = fileURLToPath(new URL('../../node-agent/src/main.ts', import.meta.url));

export interface MachineOptions {
  hostname: string;
  dir: string;
  /** Settings of the agent besides its folder, name and token. */
  env: Record<string, string>;
  mintToken: () => Promise<string>;
  log: LabLog;
}

/** One simulated host: its power cord, and an agent that is restarted when it crashes. */
export interface SimulatedMachine {
  hostname: string;
  pid(): number | null;
  kill(signal: NodeJS.Signals): void;
  /** Resolves when the agent has an identity. */
  enrolled(deadlineMs: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startMachine(options: MachineOptions): Promise<SimulatedMachine> {
  const { hostname, dir, env, mintToken, log } = options;
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const agent = startAgentProcess({
    name: hostname,
    logFile: join(dir, 'agent.log'),
    log,
    async prepare() {
      const token = (await remainingValidityMs(dir)) > MIN_VALIDITY_MS ? null : await mintToken();
      return { args: [AGENT_MAIN], env: { ...env, ...agentEnv(options, token) } };
    },
  });
  const stopping = new AbortController();
  const answered = replaceFailedIdentities(options, mintToken, log, stopping.signal);

  return {
    hostname,
    pid: agent.pid,
    kill: agent.kill,
    enrolled: (deadlineMs) => awaitEnrolled(options, deadlineMs),
    async stop() {
      stopping.abort();
      await agent.stop();
      await answered;
      await waitForGuestsToExit(dir, GUEST_EXIT_TIMEOUT_MS);
    },
  };
}

function agentEnv(options: MachineOptions, token: string | null): Record<string, string> {
  return {
    GPUAAS_AGENT_DIR: options.dir,
    GPUAAS_AGENT_HOSTNAME: options.hostname,
    GPUAAS_AGENT_HOST: 'simulated',
    ...(token ? { GPUAAS_AGENT_TOKEN: token } : {}),
  };
}
