/**
 * `npm run dev`: database and simulated hosts stay, and changed parts restart: the control plane and the
 * agents separately, the console through vite.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { approveFleet } from '../src/approve-fleet.ts';
import { startSimulatedFleet } from '../src/simulated-fleet.ts';
import { createGpuaasClient, type GpuaasClient } from '@gpuaas/sdk/client';
import { unwrap } from '@gpuaas/sdk/problem';
import { startEmbeddedPostgres } from '@gpuaas/control-plane/platform/db/embedded-postgres';
import { createLogger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { readConfig } from '@gpuaas/control-plane/roles/config';
import { runRole } from '@gpuaas/control-plane/roles/entry-point';
import { startRestartingProcess } from './restarting-process.ts';
import { deadlineAfter } from '@gpuaas/control-plane/platform/clock';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CONSOLE_PORT = 5173;
const CONTROL_PLANE_SOURCES = [
  'control-plane/src',
  'control-plane/migrations',
  'contracts/generated',
  'contracts/src',
];
const READY_DEADLINE_MS = 60_000;

await runRole(async (onStop, stopping, fail) => {
  const config = readConfig();
  const log = createLogger('dev');
  const apiUrl = `http://${config.host}:${config.port}`;
  const consoleUrl = `http://127.0.0.1:${CONSOLE_PORT}`;
  const databaseUrl = config.databaseUrl ?? (await embeddedDatabase());

  async function embeddedDatabase(): Promise<string> {
    const postgres = await startEmbeddedPostgres({
      dataDir: config.dataDir,
      signal: stopping,
      onLost: fail,
    });
    onStop(() => postgres.stop(), { immediately: () => postgres.stopImmediately() });
    return postgres.url;
  }

  const controlPlane = await startRestartingProcess(
    {
      args: ['--disable-warning=DeprecationWarning', join(ROOT, 'lab/scripts/dev-control-plane.ts')],
      // Sign-in must come back to the page that vite serves.
      env: { DATABASE_URL: databaseUrl, GPUAAS_PUBLIC_URL: consoleUrl },
    },
    (ended) => untilReady(apiUrl, ended),
  );
  onStop(() => controlPlane.stop());

  const vite = spawn(process.execPath, viteArguments(), { cwd: join(ROOT, 'console'), stdio: 'inherit' });
  onStop(async () => {
    // Ctrl-C reaches it before our signal.
    if (vite.exitCode !== null || vite.signalCode !== null) return;
    const exit = once(vite, 'exit');
    vite.kill('SIGTERM');
    await exit;
  });

  const client = createGpuaasClient({ baseUrl: apiUrl, apiKey: await operatorKey(config.dataDir) });
  const fleet = await startSimulatedFleet({
    count: config.simNodes,
    oneProcess: config.simOneProcess,
    serverUrl: `https://127.0.0.1:${config.nodePort}`,
    stateDir: join(config.dataDir, 'hosts'),
    speed: config.simSpeed,
    faults: config.simFaults,
    client,
    region: 'uae-north-1',
    log,
  });
  onStop(() => fleet.stop());
  await approveFleet(client, log);
  await openProducts(client);

  onChange(CONTROL_PLANE_SOURCES, async () => {
    const began = performance.now();
    await controlPlane.restart();
    log.info(`control plane restarted in ${Math.round(performance.now() - began)} ms`);
  });
  onChange(['node-agent/src'], async () => {
    for (const { hostname } of fleet.nodes) fleet.killAgent(hostname, 'SIGTERM');
    log.info('agents restarting; machines on the hosts go on');
  });
  log.info(
    `ready: console ${consoleUrl}, API ${apiUrl}, people and keys in ${join(config.dataDir, 'demo.json')}`,
  );

  function onChange(folders: string[], act: () => Promise<void>): void {
    let timer: NodeJS.Timeout | undefined;
    const later = (): void => {
      clearTimeout(timer);
      timer = setTimeout(
        () => void act().catch((error: unknown) => log.error({ err: error }, 'restart failed')),
        50,
      );
    };
    for (const folder of folders) {
      const watcher = watch(join(ROOT, folder), { recursive: true }, (_event, file) => {
        if (file && !file.includes('.test.')) later();
      });
      onStop(() => watcher.close());
    }
  }
});

function viteArguments(): string[] {
  const cli = join(ROOT, 'node_modules/vite/bin/vite.js');
  return [
    cli,
    '--host',
    '127.0.0.1',
    '--port',
    String(CONSOLE_PORT),
    '--strictPort',
    '--clearScreen',
    'false',
  ];
}

async function untilReady(apiUrl: string, ended: AbortSignal): Promise<void> {
  const deadline = deadlineAfter(READY_DEADLINE_MS);
  while (!deadline.passed()) {
    if (ended.aborted) throw new Error('the control plane ended before it was ready');
    const answer = await fetch(`${apiUrl}/readyz`).catch(() => null);
    if (answer?.ok) return;
    await pause(50);
  }
  throw new Error('the control plane did not become ready');
}

async function operatorKey(dataDir: string): Promise<string> {
  const demo: {
    people: { role: string; api_key: string }[];
  } = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8'));
  const operator = demo.people.find((person) => person.role === 'platform operator');
  if (!operator) throw new Error('demo.json names no operator');
  return operator.api_key;
}

async function openProducts(client: GpuaasClient): Promise<void> {
  const path = { sku: 'h200-sxm-slice' };
  await unwrap(client.PATCH('/api/v1/admin/skus/{sku}', { params: { path }, body: { enabled: true } }));
}
