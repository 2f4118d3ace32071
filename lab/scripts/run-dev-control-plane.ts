import { Readiness } from '@gpuaas/control-plane/platform/http/probes/readiness';
import { createLogger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { readConfig } from '@gpuaas/control-plane/roles/config';
import { runRole } from '@gpuaas/control-plane/roles/entry-point';
import { startPlatform } from '../src/up/platform.ts';

/** Everything of the control plane on the database that `dev.ts` keeps. */
export async function runDevControlPlane(): Promise<void> {
  await runRole(async (onStop) => {
    const config = readConfig();
    const { databaseUrl } = config;
    if (!databaseUrl) throw new Error('dev.ts passes DATABASE_URL');
    const options = {
      consoleDir: null,
      runWorker: true,
      onMismatch: () => undefined,
      readiness: new Readiness(),
    };
    await startPlatform({ ...config, ...options, databaseUrl, log: createLogger('dev') }, onStop);
  });
}
