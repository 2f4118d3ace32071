import { Readiness } from '../src/platform/http/readiness.ts';
import { createLogger } from '../src/platform/telemetry/logger.ts';
import { readConfig } from '../src/roles/config.ts';
import { runRole } from '../src/roles/entry-point.ts';
import { startPlatform } from '../src/roles/platform.ts';

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
