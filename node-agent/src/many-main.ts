import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { readConfig } from './config.ts';
import { watchPowerLoss } from './host/simulated/power-loss.ts';
import { createLogger } from './logger.ts';
import { runAgents } from './run-agents.ts';
import { endOnUnexpectedErrors } from './unexpected-errors.ts';

/** `many-main.ts <list>`: a JSON list of `{dir, hostname, token}`; all other settings come from the environment. */
interface Listed {
  dir: string;
  hostname: string;
  token: string | null;
}

const GRACE_MS = 4_000;

process.umask(0o077);
const [file] = process.argv.slice(2);
if (!file) throw new Error('usage: many-main.ts <list of agents>');
const listed: Listed[] = JSON.parse(readFileSync(file, 'utf8'));
const configs = listed.map(({ dir, hostname, token }) =>
  readConfig({
    ...process.env,
    GPUAAS_AGENT_DIR: dir,
    GPUAAS_AGENT_HOSTNAME: hostname,
    GPUAAS_AGENT_TOKEN: token ?? '',
  }),
);
const stop = new AbortController();
// Every agent listens to this one signal.
EventEmitter.setMaxListeners(0, stop.signal);
const powerFd = configs[0]?.simulation.powerFd;
if (typeof powerFd === 'number') watchPowerLoss(powerFd, () => process.exit(0));
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    stop.abort();
    setTimeout(() => process.exit(), GRACE_MS).unref();
  });
}
endOnUnexpectedErrors(createLogger('agents'));
await runAgents(configs, stop.signal);
process.exit();
