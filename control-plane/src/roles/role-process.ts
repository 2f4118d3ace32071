import { requireMigrated } from '../platform/db/migrate.ts';
import { startProbes } from '../platform/http/probes/probes.ts';
import { Readiness } from '../platform/http/probes/readiness.ts';
import type { PlatformServices } from './domain-answers.ts';
import { createLogger, type Logger } from '../platform/telemetry/logger.ts';
import type { Metrics } from '../platform/telemetry/metrics.ts';
import { startTracing } from '../platform/telemetry/tracing.ts';
import { ConfigError, readConfig, type Config } from './config.ts';
import type { OnStop } from './entry-point.ts';
import { requireFreePort } from './free-port.ts';
import { openServices } from './open-services.ts';
import { databaseReadiness } from './readiness-parts.ts';
import { warnOfUnencryptedLinks } from './settings/unencrypted-links.ts';

export interface RoleProcess {
  config: Config & { databaseUrl: string };
  services: PlatformServices;
  readiness: Readiness;
  log: Logger;
}

/** Start of the roles that run as separate processes, on a database that `migrate` has prepared. */
export async function openRoleProcess(name: string, onStop: OnStop): Promise<RoleProcess> {
  const config = readConfig();
  const { databaseUrl, dataDir, stepCa, maas, databaseLimits, blobs } = config;
  if (!databaseUrl) throw new ConfigError('DATABASE_URL must name the database of the platform');
  const log = createLogger(name);
  warnOfUnencryptedLinks(config, log);
  onStop(await startTracing(name));
  await requireMigrated(databaseUrl);
  const { services, close } = await openServices({
    databaseUrl,
    dataDir,
    stepCa,
    maas,
    databaseLimits,
    blobs,
    log,
  });
  onStop(close);
  const readiness = new Readiness();
  readiness.add(databaseReadiness(services));
  return { config: { ...config, databaseUrl }, services, readiness, log };
}

/** The probes of a role without a public API, if it has a port for them. */
export async function serveProbes(
  { config, readiness }: RoleProcess,
  metrics: Metrics,
  onStop: OnStop,
): Promise<void> {
  onStop(() => metrics.stop());
  const { host, probePort: port } = config;
  if (port === null) return;
  await requireFreePort(host, port, 'GPUAAS_PROBE_PORT');
  const probes = await startProbes({ host, port, readiness, metrics });
  onStop(() => probes.stop());
}
