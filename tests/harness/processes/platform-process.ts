/** The platform of one machine as a process: both ports, worker and embedded provider, over a database that is there. */
import { Readiness } from '@gpuaas/control-plane/platform/http/probes/readiness';
import { createLogger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { readConfig } from '@gpuaas/control-plane/roles/config';
import { runRole } from '@gpuaas/control-plane/roles/entry-point';
import { startPlatform } from '@gpuaas/lab/up/platform';

await runRole(async (onStop) => {
  const config = readConfig();
  await startPlatform(
    {
      ...config,
      databaseUrl: config.databaseUrl!,
      consoleDir: null,
      runWorker: true,
      readiness: new Readiness(),
      log: createLogger('platform'),
    },
    onStop,
  );
});
