import { refuseNodeRelease } from '@gpuaas/contracts/node-release';
import { runAgent } from './agent.ts';
import { ConfigError, readConfig, type AgentConfig } from './config.ts';
import { watchPowerLoss } from './host/simulated/power-loss.ts';
import { createLogger, errorMessage } from './logger.ts';
import { endOnUnexpectedErrors } from './unexpected-errors.ts';

const GRACE_MS = 4_000;

function configOrExit(): AgentConfig {
  const tooOld = refuseNodeRelease(process.version);
  if (tooOld) {
    process.stderr.write(`${tooOld}\n`);
    return process.exit(2);
  }
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
// Child processes must not inherit the token.
delete process.env['GPUAAS_AGENT_TOKEN'];
const log = createLogger(config.hostname);
const stop = new AbortController();

if (config.simulation.powerFd !== null) watchPowerLoss(config.simulation.powerFd, () => process.exit(0));
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    log.info({ signal }, 'agent stopping; VMs stay as they are');
    stop.abort();
    setTimeout(() => process.exit(), GRACE_MS).unref();
  });
}

endOnUnexpectedErrors(log);

try {
  await runAgent({ config, log, stop, die: () => process.kill(process.pid, 'SIGKILL') });
} catch (error) {
  log.fatal({ reason: errorMessage(error) }, 'agent cannot run');
  process.exitCode = 1;
}
process.exit();
