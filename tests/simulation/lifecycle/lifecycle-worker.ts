/** A worker with quick leases and the policies of the test, to be killed at the places its environment names. */
import { join } from 'node:path';
import type { PolicyName } from '@gpuaas/contracts/generated/policies.ts';
import { reportFailedWorkflow } from '@gpuaas/control-plane/domains/incidents/report-failures';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import type { Policies } from '@gpuaas/control-plane/platform/policy/policies';
import { createLogger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { startWorkflowEngine } from '@gpuaas/control-plane/platform/workflows/engine';
import { readConfig } from '@gpuaas/control-plane/roles/config';
import { openServices } from '@gpuaas/control-plane/roles/open-services';
import { localGuests } from '../../harness/apps/local-guests.ts';
import { workflowDefinitions } from '@gpuaas/control-plane/roles/workflow-definitions';

const { DATABASE_URL, GPUAAS_DATA_DIR, TEST_POLICIES } = process.env;
if (!DATABASE_URL || !GPUAAS_DATA_DIR) throw new Error('DATABASE_URL and GPUAAS_DATA_DIR are not set');
const own = JSON.parse(TEST_POLICIES ?? '{}') as Partial<Record<PolicyName, never>>;
const log = createLogger('test-worker');
const { maas } = readConfig([]);
const opened = await openServices({ databaseUrl: DATABASE_URL, dataDir: GPUAAS_DATA_DIR, maas, log });
const { policies } = opened.services;
const quick: Policies = {
  get: (key, scope) => own[key] ?? policies.get(key, scope),
  explain: (key, scope, value) => policies.explain(key, scope, value),
  refresh: () => policies.refresh(),
};
const guests = localGuests(join(GPUAAS_DATA_DIR, 'guests'));
const services = servicesAsRole({ ...opened.services, policies: quick, guests }, 'gpuaas_worker');
await startWorkflowEngine({
  database: services.database,
  listener: services.listener,
  services,
  definitions: [...workflowDefinitions],
  log,
  onWorkflowFailed: (failed) => reportFailedWorkflow(services, failed),
  timings: { heartbeatMs: 200, deadAfterMs: 2000 },
  concurrency: 24,
});
process.stdout.write('ready\n');
