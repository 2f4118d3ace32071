import { runAgent } from './agent.ts';
import { ConfigError, readConfig, type AgentConfig } from './config.ts';
import { watchPowerCord } from './host/simulated/power-cord.ts';
import { createLogger, reasonOf } from './log.ts';

const GRACE_MS = 4_000;

function configOrExit(): AgentConfig {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return process.exit(2);
  }
}

process.umask(0o077);
const config = configOrExit();
// Nothing that this process starts has any business with the token.
delete process.env['GPUAAS_AGENT_TOKEN'];
const log = createLogger(config.hostname);
const stop = new AbortController();

if (config.simulation.powerFd !== null) watchPowerCord(config.simulation.powerFd, () => process.exit(0));
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    log.info({ signal }, 'agent stopping; VMs stay as they are');
    stop.abort();
    setTimeout(() => process.exit(), GRACE_MS).unref();
  });
}

try {
  await runAgent({ config, log, stop, die: () => process.kill(process.pid, 'SIGKILL') });
} catch (error) {
  log.fatal({ reason: reasonOf(error) }, 'agent cannot run');
  process.exitCode = 1;
}
process.exit();
