import { requireMigrated } from '../platform/db/migrate.ts';
import { startProbes } from '../platform/http/probes.ts';
import { Readiness } from '../platform/http/readiness.ts';
import type { Services } from '../platform/services.ts';
import { createLogger, type Logger } from '../platform/telemetry/logger.ts';
import type { Metrics } from '../platform/telemetry/metrics.ts';
import { startTracing } from '../platform/telemetry/tracing.ts';
import { ConfigError, readConfig, type Config } from './config.ts';
import type { OnStop } from './entry-point.ts';
import { requireFreePort } from './free-port.ts';
import { openServices } from './open-services.ts';
import { databasePart } from './readiness-parts.ts';

export interface RoleProcess {
  config: Config & { databaseUrl: string };
  services: Services;
  readiness: Readiness;
  log: Logger;
}

/** What the roles that run as processes of their own begin with: a database that `migrate` has prepared. */
export async function openRoleProcess(name: string, onStop: OnStop): Promise<RoleProcess> {
  const config = readConfig();
  const { databaseUrl, dataDir, stepCa, maas } = config;
  if (!databaseUrl) throw new ConfigError('DATABASE_URL must name the database of the platform');
  const log = createLogger(name);
  onStop(await startTracing(name));
  await requireMigrated(databaseUrl);
  const { services, close } = await openServices({ databaseUrl, dataDir, stepCa, maas, log });
  onStop(close);
  const readiness = new Readiness();
  readiness.add(databasePart(services));
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
