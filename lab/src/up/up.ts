import { join } from 'node:path';
import { createGpuaasClient } from '@gpuaas/sdk/client';
import { approveFleet } from '../approve-fleet.ts';
import { putProductsOnSale } from '../put-products-on-sale.ts';
import { startSharedModel, type SharedModel } from '../shared-model.ts';
import { startSimulatedFleet } from '../simulated-fleet.ts';
import {
  startEmbeddedPostgres,
  type EmbeddedPostgresOptions,
} from '@gpuaas/control-plane/platform/db/embedded-postgres';
import { Readiness } from '@gpuaas/control-plane/platform/http/probes/readiness';
import { createLogger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { buildConsole } from './build-console.ts';
import { readConfig } from '@gpuaas/control-plane/roles/config';
import { requireLoopbackForDemo } from '@gpuaas/control-plane/roles/demo-provider';
import { runRole, type OnStop } from '@gpuaas/control-plane/roles/entry-point';
import { requireFreePort } from '@gpuaas/control-plane/roles/free-port';
import { hostsFolder, startPlatform } from './platform.ts';
import { warnOfUnencryptedLinks } from '@gpuaas/control-plane/roles/unencrypted-links';

const DEMO_REGION = 'uae-north-1';

/** Everything on one machine: database, control plane, console, and a simulated fleet of real agents. */
await runRole(async (onStop, stopping, fail) => {
  const config = readConfig();
  requireLoopbackForDemo(config);
  const log = createLogger('up');
  // A newcomer's terminal shows the address and the people, not every request.
  if (!process.env['GPUAAS_LOG_LEVEL']) log.level = 'warn';
  warnOfUnencryptedLinks(config, log);
  await requireFreePort(config.host, config.port, 'GPUAAS_PORT');
  await requireFreePort(config.host, config.nodePort, 'GPUAAS_NODE_PORT');
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  say('GPUaaS is starting …');
  const consoleBuilt = buildConsole((line) => say(`  ${line}`), stopping);
  consoleBuilt.catch(() => undefined);
  const databaseUrl =
    config.databaseUrl ??
    (await embeddedDatabase(onStop, {
      dataDir: config.dataDir,
      log: (line) => log.debug(line),
      signal: stopping,
      onLost: fail,
    }));
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
    await putProductsOnSale(client);
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

async function embeddedDatabase(onStop: OnStop, options: EmbeddedPostgresOptions): Promise<string> {
  const postgres = await startEmbeddedPostgres(options);
  onStop(() => postgres.stop(), { immediately: () => postgres.stopImmediately() });
  return postgres.url;
}
