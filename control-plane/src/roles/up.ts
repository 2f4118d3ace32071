import { join } from 'node:path';
import { createGpuaasClient } from '@gpuaas/sdk/client';
import { approveFleet } from '@gpuaas/lab/approve-fleet';
import { openProducts } from '@gpuaas/lab/open-products';
import { startSharedModel, type SharedModel } from '@gpuaas/lab/shared-model';
import { startSimulatedFleet } from '@gpuaas/lab/simulated-fleet';
import { startEmbeddedPostgres } from '../platform/db/embedded-postgres.ts';
import { Readiness } from '../platform/http/readiness.ts';
import { createLogger } from '../platform/telemetry/logger.ts';
import { buildConsole } from './build-console.ts';
import { readConfig, type Config } from './config.ts';
import { runRole, type OnStop } from './entry-point.ts';
import { requireFreePort } from './free-port.ts';
import { hostsFolder, startPlatform } from './platform.ts';

const DEMO_REGION = 'uae-north-1';

/** Everything on one machine: database, control plane, console, and a simulated fleet of real agents. */
await runRole(async (onStop, stopping) => {
  const config = readConfig();
  const log = createLogger('up');
  // A newcomer's terminal shows the address and the people, not every request.
  if (!process.env['GPUAAS_LOG_LEVEL']) log.level = 'warn';
  await requireFreePort(config.host, config.port, 'GPUAAS_PORT');
  await requireFreePort(config.host, config.nodePort, 'GPUAAS_NODE_PORT');
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  say('GPUaaS is starting …');
  const consoleBuilt = buildConsole((line) => say(`  ${line}`), stopping);
  consoleBuilt.catch(() => undefined);
  const databaseUrl =
    config.databaseUrl ?? (await embeddedDatabase(config, onStop, stopping, (line) => log.debug(line)));
  const readiness = new Readiness();
  const fleetReady = readiness.addMilestone('simulated fleet', 'hosts are being enrolled and approved');
  const platform = await startPlatform(
    {
      ...config,
      databaseUrl,
      consoleDir: await consoleBuilt,
      runWorker: true,
      readiness,
      log,
    },
    onStop,
  );
  let model: SharedModel | null = null;
  const operator = platform.people.find((person) => person.key === 'operator');
  if (operator && config.simNodes > 0) {
    const client = createGpuaasClient({
      baseUrl: `http://${config.host}:${config.port}`,
      apiKey: operator.apiKey,
    });
    const fleet = await startSimulatedFleet({
      count: config.simNodes,
      oneProcess: config.simOneProcess,
      serverUrl: platform.nodeUrl,
      stateDir: hostsFolder(config.dataDir),
      speed: config.simSpeed,
      faults: config.simFaults,
      client,
      region: DEMO_REGION,
      log,
    });
    onStop(() => fleet.stop());
    await approveFleet(client, log);
    await openProducts(client);
    model = await startSharedModel({
      client,
      baseUrl: `http://${config.host}:${config.port}`,
      journal: join(config.dataDir, 'shared-model-usage.jsonl'),
      log,
    });
    onStop(model.stop);
  }
  fleetReady.done();
  say('');
  say(`  Console    ${config.publicUrl}`);
  for (const person of platform.people)
    say(`  ${person.role.padEnd(26)} ${person.email.padEnd(22)} ${person.password}`);
  if (model) say(`  Model      ${model.url} (POST /v1/completions with an API key)`);
  say(`  API keys   ${platform.demoFile}`);
  say('');
  say('Ready. Ctrl-C stops everything.');
});

async function embeddedDatabase(
  config: Config,
  onStop: OnStop,
  stopping: AbortSignal,
  log: (line: string) => void,
): Promise<string> {
  const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir, log, signal: stopping });
  onStop(() => postgres.stop(), { atOnce: () => postgres.stopAtOnce() });
  return postgres.url;
}
