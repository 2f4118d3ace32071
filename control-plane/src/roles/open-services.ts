import { join } from 'node:path';
import { systemClock } from '../platform/clock.ts';
import { openDatabase } from '../platform/db/database.ts';
import { Listener } from '../platform/db/listener.ts';
import { EVENTS_CHANNEL } from '../platform/events/emit.ts';
import { Authorities, AUTHORITIES_CHANNEL } from '../platform/keys/authorities.ts';
import { loadPlatformKeys } from '../platform/keys/platform-keys.ts';
import { loadPlatformKey, Sealer } from '../platform/keys/seal.ts';
import { StepCa, type StepCaSettings } from '../platform/keys/step-ca.ts';
import { openMaas, type MaasSettings } from '../platform/maas/maas.ts';
import { PolicyClient, POLICIES_CHANNEL } from '../platform/policy/client.ts';
import type { Services } from '../platform/services.ts';
import type { Logger } from '../platform/telemetry/logger.ts';
import { STARTS_CHANNEL } from '../platform/workflows/names.ts';
import { WorkflowClient } from '../platform/workflows/workflow-client.ts';
import { REVOKED_CHANNEL } from '../domains/fleet/revoke-identity.ts';
import { TASKS_CHANNEL } from '../domains/fleet/issue-task.ts';
import { EMAILS_CHANNEL } from '../domains/notifications/notify-people.ts';
import { WEBHOOKS_CHANNEL } from '../domains/webhooks/enqueue-delivery.ts';

/** What every role needs, over a migrated database. */
export async function openServices(options: {
  databaseUrl: string;
  dataDir: string;
  log: Logger;
  stepCa?: StepCaSettings | null;
  maas?: MaasSettings | null;
}): Promise<{ services: Services; close(): Promise<void> }> {
  const { databaseUrl, dataDir, log } = options;
  const database = openDatabase(databaseUrl, {
    onError: (error) => log.warn({ err: error }, 'database connection lost'),
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
  const sealer = new Sealer(await loadPlatformKey(join(dataDir, 'platform.key')));
  const keys = await loadPlatformKeys(database.db, sealer);
  const stepCa = options.stepCa ? await StepCa.open(options.stepCa) : null;
  const authorities = await Authorities.open({ db: database.db, listener, sealer, log, stepCa });
  const workflows = await WorkflowClient.connect(databaseUrl, log);
  const policies = await PolicyClient.open({ db: database.db, listener, log });
  const services: Services = {
    db: database.db,
    database,
    listener,
    keys,
    authorities,
    sealer,
    workflows,
    policies,
    maas: options.maas ? openMaas(options.maas) : null,
    clock: systemClock,
    log,
  };
  return {
    services,
    async close() {
      await policies.close();
      await authorities.close();
      await workflows.close();
      await listener.close();
      await database.close();
    },
  };
}
