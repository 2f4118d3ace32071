import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFaultFiles } from '@gpuaas/lab/fault-files';
import nodeDocument from '@gpuaas/contracts/generated/node-openapi.json' with { type: 'json' };
import { grantDemoCredit } from '@gpuaas/control-plane/domains/billing/ledger/grant-demo-credit';
import { enrolledNode, enrollingNode } from '@gpuaas/control-plane/domains/fleet/identity/node-caller';
import { nodeTaskRoutes } from '@gpuaas/control-plane/domains/tasks/node-routes';
import { nodeRoutes } from '@gpuaas/control-plane/domains/fleet/node-routes';
import { testProvider } from '@gpuaas/control-plane/domains/payments/test-provider/test-provider';
import { seedDemoPeople, type SeededPerson } from '@gpuaas/control-plane/domains/tenancy/seed-demo-people';
import type { Clock } from '@gpuaas/control-plane/platform/clock';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { databaseLimits, type DatabaseLimits } from '@gpuaas/control-plane/platform/db/limits';
import { createTestDatabase } from '@gpuaas/control-plane/platform/db/testing';
import { createContractServer } from '@gpuaas/control-plane/platform/http/contract-server';
import type { ContractDocument } from '@gpuaas/control-plane/platform/http/operation';
import type { StepCaSettings } from '@gpuaas/control-plane/platform/keys/step-ca';
import type { MaasSettings } from '@gpuaas/control-plane/platform/maas/maas';
import { Problem } from '@gpuaas/control-plane/platform/http/problem';
import { Mismatches } from '@gpuaas/control-plane/platform/http/responses/testing/mismatches';
import { Readiness } from '@gpuaas/control-plane/platform/http/probes/readiness';
import type { PlatformServices } from '@gpuaas/control-plane/roles/domain-answers';
import { createLogger, type Logger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { createApi, type ApiOptions } from '@gpuaas/control-plane/roles/api';
import { openServices } from '@gpuaas/control-plane/roles/open-services';
import type { FastifyInstance } from 'fastify';

export interface TestApi {
  server: FastifyInstance;
  services: PlatformServices;
  people: Record<string, SeededPerson>;
  databaseUrl: string;
  dataDir: string;
  /** Answers that broke the contract; any that is left fails `stop`. */
  mismatches: Mismatches;
  stop(): Promise<void>;
}

const plenty = { burst: 1e9, perSecond: 1e9 };
export const NO_LIMITS = {
  caller: plenty,
  anonymous: plenty,
  failed_authentication: plenty,
  refused_bytes: plenty,
  creations: plenty,
};
/** A simulated host that nobody runs: its faults can be set and read. */
export const TEST_LAB_HOST = 'sim-h200-01';
export const TEST_PUBLIC_URL = 'http://127.0.0.1:1';

/**
 * The public API with its real handlers over a separate database; no fleet, no worker, no port until
 * requested.
 */
export async function createTestApi(
  options: Partial<ApiOptions> & {
    log?: Logger;
    stepCa?: StepCaSettings;
    maas?: MaasSettings;
    databaseLimits?: DatabaseLimits;
    /** Tenants without money cannot launch. */
    withoutCredit?: boolean;
    /** A migrated database that the caller manages. */
    databaseUrl?: string;
    /** For tests in which time passes. */
    clock?: Clock;
    /** Leaves out test-only work, as benchmarks must: responses are not checked against the contract. */
    asInProduction?: boolean;
  } = {},
): Promise<TestApi> {
  const log = options.log ?? quietLogger();
  const dataDir = await mkdtemp(join(tmpdir(), 'gpuaas-test-api-'));
  const database = options.databaseUrl
    ? { url: options.databaseUrl, drop: async () => undefined }
    : await createTestDatabase();
  const { services: opened, close } = await openServices({
    databaseUrl: database.url,
    dataDir,
    log,
    stepCa: options.stepCa ?? null,
    maas: options.maas ?? null,
    // Tests wait for a busy machine, unless they test these limits.
    databaseLimits: options.databaseLimits ?? databaseLimits({ connectMs: 60_000, statementMs: 120_000 }),
  });
  const services = options.clock ? { ...opened, clock: options.clock } : opened;
  const people = await services.db.transaction().execute((tx) => seedDemoPeople(tx, 'test', new Map()));
  const tenants = people.flatMap(({ organizationId }) => organizationId ?? []);
  if (!options.withoutCredit) {
    await services.db.transaction().execute((tx) => grantDemoCredit(tx, tenants));
  }
  await setTestPolicies(services);
  const mismatches = new Mismatches();
  const lab = openFaultFiles({ stateDir: join(dataDir, 'hosts'), configured: '' });
  await mkdir(join(dataDir, 'hosts', TEST_LAB_HOST), { recursive: true });
  const api = await createApi(services, {
    ...testApiOptions(),
    ...(options.asInProduction ? {} : { onMismatch: mismatches.onMismatch }),
    lab,
    paymentProvider: testProvider(servicesAsRole(services, 'gpuaas_worker')),
    ...options,
  });
  return {
    server: api.server,
    services,
    people: Object.fromEntries(people.map((person) => [person.key, person])),
    databaseUrl: database.url,
    dataDir,
    mismatches,
    async stop() {
      await api.stop();
      await close();
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
      mismatches.assertNone();
    },
  };
}

/** Options of the public API without sign-in and rate limits. */
export function testApiOptions() {
  return {
    publicUrl: TEST_PUBLIC_URL,
    oidc: {
      issuer: `${TEST_PUBLIC_URL}/idp`,
      clientId: 'test',
      clientSecret: 'test',
      redirectUri: TEST_PUBLIC_URL,
      audience: 'urn:gpuaas:api',
      scopes: 'openid email profile',
      cliClientId: 'test-cli',
    },
    devIdp: null,
    consoleDir: null,
    readiness: new Readiness(),
    rateLimits: NO_LIMITS,
  };
}

/** What most tests are not about: slices that are off until somebody enables them, smoke runs, and a limit of the process. */
async function setTestPolicies({ db, policies }: PlatformServices): Promise<void> {
  const values = [
    { key: 'catalog.slices_enabled', value: 'true' },
    { key: 'apps.smoke_run', value: '"waived"' },
    // Some tests are refused thousands of times a minute and look at every row.
    { key: 'audit.denials_in_total_per_minute', value: '1000000' },
  ];
  await db.insertInto('policy_values').values(values).execute();
  await policies.refresh();
}

/** Names the node of an injected request, which has no TLS connection to prove it with. */
export const TEST_NODE_HEADER = 'x-test-node';

/** The node API's real handlers without TLS. */
export async function createTestNodeApi({ services: base, mismatches }: TestApi): Promise<FastifyInstance> {
  const services = servicesAsRole(base, 'gpuaas_node');
  const { server } = await createContractServer({
    name: 'node',
    document: nodeDocument as unknown as ContractDocument,
    handlers: { ...nodeRoutes(services), ...nodeTaskRoutes(services) },
    authenticate: async (request, operation) => {
      if (operation.security?.length === 0) return enrollingNode();
      const nodeId = request.headers[TEST_NODE_HEADER];
      if (typeof nodeId !== 'string') throw new Problem('unauthenticated', 'A node certificate is required.');
      return enrolledNode(nodeId);
    },
    db: services.db,
    log: services.log,
    rateLimits: NO_LIMITS,
    denials: services.denials,
    onMismatch: mismatches.onMismatch,
  });
  return server;
}

function quietLogger(): Logger {
  const log = createLogger('test');
  log.level = process.env['GPUAAS_TEST_LOG'] ?? 'silent';
  return log;
}
