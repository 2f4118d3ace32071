import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { approveFleet } from '@gpuaas/lab/approve-fleet';
import { putProductsOnSale } from '@gpuaas/lab/put-products-on-sale';
import { startSimulatedFleet, type SimulatedFleet } from '@gpuaas/lab/simulated-fleet';
import { createTestDatabase } from '@gpuaas/control-plane/platform/db/testing';
import { Mismatches } from '@gpuaas/control-plane/platform/http/responses/testing/mismatches';
import { Readiness } from '@gpuaas/control-plane/platform/http/probes/readiness';
import type { PlatformServices } from '@gpuaas/control-plane/roles/domain-answers';
import { createLogger, type Logger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { readConfig } from '@gpuaas/control-plane/roles/config';
import { startPlatform } from '@gpuaas/lab/up/platform';
import { createGpuaasClient, type GpuaasClient } from '@gpuaas/sdk/client';
import { freePort } from './processes/free-port.ts';

export interface TestPlatform {
  baseUrl: string;
  appsPort: number;
  /** Where agents call. */
  nodeUrl: string;
  services: PlatformServices;
  fleet: SimulatedFleet;
  operator: GpuaasClient;
  admin: GpuaasClient;
  member: GpuaasClient;
  stranger: GpuaasClient;
  keys: Record<'operator' | 'admin' | 'member' | 'other', string>;
  projectId: string;
  dataDir: string;
  databaseUrl: string;
  /** A worker in a separate process, to be killed; `onOutput` gets its output. */
  spawnWorker(env?: Record<string, string>, onOutput?: (text: string) => void): ChildProcess;
  /** What starts, observes and stops apps, in a separate process, to be killed. */
  spawnAppRuntime(): ChildProcess;
  stop(): Promise<void>;
}

export interface TestPlatformOptions {
  nodes?: number;
  runWorker?: boolean;
  faults?: string;
  speed?: number;
  /** Leaves the hosts as they enrolled: nothing discovered, nothing approved. */
  untouched?: boolean;
  consoleDir?: string | null;
  agentEnv?: Record<string, string>;
  /** A server of the test's own; otherwise a clone of the template. */
  databaseUrl?: string;
  /** Settings of the platform, by the names of the environment. */
  settings?: Record<string, string>;
  log?: Logger;
}

const ROLES = fileURLToPath(new URL('../../control-plane/src/roles/', import.meta.url));

/** The real platform on free ports, a separate database and simulated hosts, with every response checked. */
export async function startTestPlatform(options: TestPlatformOptions = {}): Promise<TestPlatform> {
  const stops: (() => Promise<void> | void)[] = [];
  const stop = async (): Promise<void> => {
    for (const undo of stops.splice(0).toReversed()) await undo();
  };
  try {
    return await start(options, (undo) => stops.push(undo), stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function cloneOfTemplate(onStop: (undo: () => Promise<void>) => void): Promise<string> {
  const database = await createTestDatabase();
  onStop(() => database.drop());
  return database.url;
}

async function start(
  options: TestPlatformOptions,
  onStop: (undo: () => Promise<void> | void) => void,
  stop: () => Promise<void>,
): Promise<TestPlatform> {
  const mismatches = new Mismatches();
  onStop(() => mismatches.assertNone());
  const dataDir = await mkdtemp(join(tmpdir(), 'gpuaas-test-platform-'));
  onStop(() => rm(dataDir, { recursive: true, force: true }));
  const databaseUrl = options.databaseUrl ?? (await cloneOfTemplate(onStop));
  const [port, nodePort, appsPort] = [await freePort(), await freePort(), await freePort()];
  const config = readConfig([], {
    GPUAAS_PORT: String(port),
    GPUAAS_NODE_PORT: String(nodePort),
    GPUAAS_APPS_PORT: String(appsPort),
    GPUAAS_DATA_DIR: dataDir,
    ...options.settings,
  });
  const log = options.log ?? quietLogger();
  const platform = await startPlatform(
    {
      ...config,
      databaseUrl,
      consoleDir: options.consoleDir ?? null,
      runWorker: options.runWorker ?? true,
      onMismatch: mismatches.onMismatch,
      readiness: new Readiness(),
      log,
    },
    onStop,
  );
  await waiveSmokeRuns(platform.services);
  const keys = Object.fromEntries(platform.people.map((p) => [p.key, p.apiKey])) as TestPlatform['keys'];
  const client = (apiKey: string): GpuaasClient => createGpuaasClient({ baseUrl: config.publicUrl, apiKey });
  const operator = client(keys.operator);
  const fleet = await startSimulatedFleet({
    count: options.nodes ?? 1,
    serverUrl: platform.nodeUrl,
    stateDir: join(dataDir, 'hosts'),
    speed: options.speed ?? 0,
    faults: options.faults ?? '',
    client: operator,
    region: 'uae-north-1',
    log,
    ...(options.agentEnv ? { agentEnv: options.agentEnv } : {}),
  });
  onStop(() => fleet.stop());
  const spawnWorker: TestPlatform['spawnWorker'] = (env = {}, onOutput) => spawnRole('worker', env, onOutput);
  if (!options.untouched) {
    // A promotion is a workflow; a test without a worker borrows one for it.
    const borrowed = options.runWorker === false ? spawnWorker() : null;
    await approveFleet(operator, log);
    if (borrowed) {
      borrowed.kill('SIGTERM');
      await once(borrowed, 'exit');
    }
  }
  await putProductsOnSale(operator);
  return {
    baseUrl: config.publicUrl,
    appsPort: config.appsPort,
    nodeUrl: platform.nodeUrl,
    services: platform.services,
    fleet,
    operator,
    admin: client(keys.admin),
    member: client(keys.member),
    stranger: client(keys.other),
    keys,
    projectId: platform.people.find((p) => p.key === 'admin')!.projectId!,
    dataDir,
    databaseUrl,
    spawnWorker,
    spawnAppRuntime: () => spawnRole('app-runtime-worker', { GPUAAS_PUBLIC_URL: config.publicUrl }),
    stop,
  };

  function spawnRole(
    role: string,
    env: Record<string, string>,
    onOutput?: (text: string) => void,
  ): ChildProcess {
    const child = spawn(process.execPath, [join(ROLES, `${role}.ts`)], {
      env: {
        ...process.env,
        DATABASE_URL: databaseUrl,
        GPUAAS_DATA_DIR: dataDir,
        GPUAAS_LOG_LEVEL: 'error',
        NODE_OPTIONS: '--disable-warning=DeprecationWarning',
        ...env,
      },
      stdio: onOutput ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
    });
    for (const output of [child.stdout, child.stderr])
      output?.on('data', (chunk: Buffer) => onOutput?.(chunk.toString('utf8')));
    onStop(() => kill(child));
    return child;
  }
}

/** Without a chance to clean up; resolves when the process is gone. */
export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

function quietLogger(): Logger {
  const log = createLogger('test');
  log.level = process.env['GPUAAS_TEST_LOG'] ?? 'silent';
  return log;
}

/** Most tests are not about smoke runs, for which the platform would need capacity. */
async function waiveSmokeRuns({ db, policies }: PlatformServices): Promise<void> {
  const waived = { key: 'apps.smoke_run', value: '"waived"' };
  await db
    .insertInto('policy_values')
    .values(waived)
    .onConflict((c) => c.doNothing())
    .execute();
  await policies.refresh();
}
