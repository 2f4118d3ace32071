import type { Denials } from './audit/denials.ts';
import type { Blobs } from './blobs/blobs.ts';
import type { Clock } from './clock.ts';
import type { Database, Db } from './db/database.ts';
import type { Listener } from './db/listener.ts';
import type { Authorities } from './keys/authorities.ts';
import type { PlatformKeys } from './keys/platform-keys.ts';
import type { Sealer } from './keys/seal.ts';
import type { Maas } from './maas/maas.ts';
import type { Policies } from './policy/policies.ts';
import type { Logger } from './telemetry/logger.ts';
import type { WorkflowClient } from './workflows/workflow-client.ts';

/** Services of every use-case; built once per process by a role. */
export interface Services {
  db: Db;
  database: Database;
  listener: Listener;
  keys: PlatformKeys;
  authorities: Authorities;
  sealer: Sealer;
  workflows: WorkflowClient;
  policies: Policies;
  /** Where attempts that were refused are audited. */
  denials: Denials;
  /** Payloads, logs and other content by digest. */
  blobs: Blobs;
  /** Null where `MAAS_ENABLED` is off. */
  maas: Maas | null;
  clock: Clock;
  log: Logger;
}
