import { join } from 'node:path';
import { Registry } from 'prom-client';
import { Denials, type DenialLimits } from '../platform/audit/denials.ts';
import { systemClock } from '../platform/clock.ts';
import { Blobs, type BlobSettings } from '../platform/blobs/blobs.ts';
import { openDatabase } from '../platform/db/database.ts';
import { databaseLimits, type DatabaseLimits } from '../platform/db/limits.ts';
import { Listener } from '../platform/db/listener.ts';
import { EVENTS_CHANNEL } from '../platform/events/emit.ts';
import { Authorities, AUTHORITIES_CHANNEL } from '../platform/keys/authorities.ts';
import { loadPlatformKeys } from '../platform/keys/platform-keys.ts';
import { KeyFile } from '../platform/keys/key-file.ts';
import { Sealer } from '../platform/keys/seal.ts';
import { StepCa, type StepCaSettings } from '../platform/keys/step-ca.ts';
import { openMaas, type MaasSettings } from '../platform/maas/maas.ts';
import { PolicyClient, POLICIES_CHANNEL } from '../platform/policy/client.ts';
import type { Policies } from '../platform/policy/policies.ts';
import { servicesAsRole } from '../platform/db/scope.ts';
import { StreamMetrics } from '../platform/telemetry/stream-metrics.ts';
import type { Logger } from '../platform/telemetry/logger.ts';
import { STARTS_CHANNEL } from '../platform/workflows/queue-names.ts';
import { WorkflowClient } from '../platform/workflows/workflow-client.ts';
import { GuestConnections } from '../domains/apps/runtime/guests.ts';
import { TunnelHub } from '../domains/access/tunnel/tunnel-hub.ts';
import { CleanupRecorder } from '../domains/allocations/cleanup/record-cleanup.ts';
import { domainAnswers, type PlatformServices } from './domain-answers.ts';
import { FleetIndex } from '../domains/fleet/index/fleet-index.ts';
import { REVOKED_CHANNEL } from '../domains/fleet/identity/revoke-identity.ts';
import { reportBlobs } from '../domains/incidents/report-blobs.ts';
import { TASKS_CHANNEL } from '../domains/tasks/issue-task.ts';
import { EMAILS_CHANNEL } from '../domains/notifications/notify-people.ts';
import { WEBHOOKS_CHANNEL } from '../domains/webhooks/enqueue-delivery.ts';

function denialLimits(policies: Policies): DenialLimits {
  return {
    perMinute: policies.get('audit.denials_per_minute'),
    inTotalPerMinute: policies.get('audit.denials_in_total_per_minute'),
  };
}

/** Services of every role, over a migrated database. */
export async function openServices(options: {
  databaseUrl: string;
  dataDir: string;
  log: Logger;
  stepCa?: StepCaSettings | null;
  maas?: MaasSettings | null;
  databaseLimits?: DatabaseLimits;
  /** Content is in the data folder otherwise. */
  blobs?: BlobSettings;
}): Promise<{ services: PlatformServices; close(): Promise<void> }> {
  const { databaseUrl, dataDir, log } = options;
  const database = openDatabase(databaseUrl, {
    onError: (error) => log.warn({ err: error }, 'database connection lost'),
    limits: options.databaseLimits ?? databaseLimits(),
  });
  const listener = new Listener(databaseUrl, [
    EVENTS_CHANNEL,
    TASKS_CHANNEL,
    REVOKED_CHANNEL,
    AUTHORITIES_CHANNEL,
    STARTS_CHANNEL,
    WEBHOOKS_CHANNEL,
    EMAILS_CHANNEL,
    POLICIES_CHANNEL,
  ]);
  await listener.start();
  const sealer = new Sealer(await KeyFile.open(join(dataDir, 'platform.key')));
  const keys = await loadPlatformKeys(database.db, sealer);
  const stepCa = options.stepCa ? await StepCa.open(options.stepCa) : null;
  const authorities = await Authorities.open({ db: database.db, listener, sealer, log, stepCa });
  const workflows = await WorkflowClient.connect(databaseUrl, log);
  const policies = await PolicyClient.open({ db: database.db, listener, log });
  const denials = new Denials({ db: database.db, log, limits: () => denialLimits(policies) });
  const { db } = database;
  const blobs = new Blobs({
    db,
    policies,
    clock: systemClock,
    log,
    settings: options.blobs ?? { folder: join(dataDir, 'blobs'), s3: null },
    ...reportBlobs({ db, clock: systemClock }),
  });
  const entering = servicesAsRole(
    { db, database, sealer, keys, authorities, policies, clock: systemClock },
    'gpuaas_app_runtime',
  );
  // This process holds no tunnel; it reaches those of the gateways.
  const guests = new GuestConnections({
    services: entering,
    hub: new TunnelHub(log, new StreamMetrics(new Registry())),
  });
  const services: PlatformServices = {
    ...domainAnswers,
    guests,
    db: database.db,
    database,
    listener,
    keys,
    authorities,
    sealer,
    workflows,
    policies,
    fleetIndex: new FleetIndex(policies),
    cleanupRecorder: new CleanupRecorder(),
    denials,
    blobs,
    maas: options.maas ? openMaas(options.maas) : null,
    clock: systemClock,
    log,
  };
  return {
    services,
    async close() {
      guests.close();
      await denials.close();
      await policies.close();
      await authorities.close();
      await workflows.close();
      await listener.close();
      await database.close();
    },
  };
}
