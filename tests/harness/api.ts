import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFaultFiles } from '@gpuaas/lab/fault-files';
import nodeDocument from '@gpuaas/contracts/generated/node-openapi.json' with { type: 'json' };
import { giveDemoCredit } from '@gpuaas/control-plane/domains/billing/give-demo-credit';
import { enrolledNode, enrollingNode } from '@gpuaas/control-plane/domains/fleet/node-caller';
import { nodeRoutes } from '@gpuaas/control-plane/domains/fleet/node-routes';
import { testProvider } from '@gpuaas/control-plane/domains/payments/test-provider/test-provider';
import { seedDemoPeople, type SeededPerson } from '@gpuaas/control-plane/domains/tenancy/seed-demo-people';
import { actingAs } from '@gpuaas/control-plane/platform/db/scope';
import { createTestDatabase } from '@gpuaas/control-plane/platform/db/testing';
import { createContractServer } from '@gpuaas/control-plane/platform/http/contract-server';
import type { ContractDocument } from '@gpuaas/control-plane/platform/http/operation';
import type { StepCaSettings } from '@gpuaas/control-plane/platform/keys/step-ca';
import type { MaasSettings } from '@gpuaas/control-plane/platform/maas/maas';
import { Problem } from '@gpuaas/control-plane/platform/http/problem';
import { Mismatches } from '@gpuaas/control-plane/platform/http/testing';
import { Readiness } from '@gpuaas/control-plane/platform/http/readiness';
import type { Services } from '@gpuaas/control-plane/platform/services';
import { createLogger, type Logger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { createApi, type ApiOptions } from '@gpuaas/control-plane/roles/api';
import { openServices } from '@gpuaas/control-plane/roles/open-services';
import type { FastifyInstance } from 'fastify';

export interface TestApi {
  server: FastifyInstance;
  services: Services;
  people: Record<string, SeededPerson>;
  databaseUrl: string;
  dataDir: string;
  /** Answers that broke the contract; any that is left fails `stop`. */
  mismatches: Mismatches;
  stop(): Promise<void>;
}

const plenty = { burst: 1e9, perSecond: 1e9 };
export const NO_LIMITS = { caller: plenty, anonymous: plenty, failed_authentication: plenty };
/** A simulated host that nobody runs: its faults can be set and read. */
export const TEST_LAB_HOST = 'sim-h200-01';
export const TEST_PUBLIC_URL = 'http://127.0.0.1:1';

/** The public API with its real handlers over a database of its own; no fleet, no worker, no port until asked. */
export async function createTestApi(
  options: Partial<ApiOptions> & {
    log?: Logger;
    stepCa?: StepCaSettings;
    maas?: MaasSettings;
    /** Tenants without money cannot launch. */
    withoutCredit?: boolean;
    /** A migrated database that somebody else keeps. */
    databaseUrl?: string;
    /** Leaves out what only tests do, as benchmarks must: answers are not held against the contract. */
    asInProduction?: boolean;
  } = {},
): Promise<TestApi> {
  const log = options.log ?? quietLogger();
  const dataDir = await mkdtemp(join(tmpdir(), 'gpuaas-test-api-'));
  const database = options.databaseUrl
    ? { url: options.databaseUrl, drop: async () => undefined }
    : await createTestDatabase();
  const { services, close } = await openServices({
    databaseUrl: database.url,
    dataDir,
    log,
    stepCa: options.stepCa ?? null,
    maas: options.maas ?? null,
  });
  const people = await services.db.transaction().execute((tx) => seedDemoPeople(tx, 'test', new Map()));
  const tenants = people.flatMap(({ organizationId }) => organizationId ?? []);
  if (!options.withoutCredit) {
    await services.db.transaction().execute((tx) => giveDemoCredit(tx, tenants));
  }
  await enableSlices(services);
  const mismatches = new Mismatches();
  const lab = openFaultFiles({ stateDir: join(dataDir, 'hosts'), configured: '' });
  await mkdir(join(dataDir, 'hosts', TEST_LAB_HOST), { recursive: true });
  const api = await createApi(services, {
    ...testApiOptions(),
    ...(options.asInProduction ? {} : { onMismatch: mismatches.onMismatch }),
    lab,
    paymentProvider: testProvider(actingAs(services, 'gpuaas_worker')),
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

/** What the public API needs to be told when nobody signs in and nobody is held back. */
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

/** Slices are off until somebody enables them; most tests are about something else. */
async function enableSlices({ db, policies }: Services): Promise<void> {
  await db.insertInto('policy_values').values({ key: 'catalog.slices_enabled', value: 'true' }).execute();
  await policies.refresh();
}

/** Names the node of an injected request, which has no TLS connection to prove it with. */
export const TEST_NODE_HEADER = 'x-test-node';

/** The node API's real handlers without TLS. */
export async function createTestNodeApi({ services: base, mismatches }: TestApi): Promise<FastifyInstance> {
  const services = actingAs(base, 'gpuaas_node');
  const { server } = await createContractServer({
    name: 'node',
    document: nodeDocument as unknown as ContractDocument,
    handlers: nodeRoutes(services),
    authenticate: async (request, operation) => {
      if (operation.security?.length === 0) return enrollingNode();
      const nodeId = request.headers[TEST_NODE_HEADER];
      if (typeof nodeId !== 'string') throw new Problem('unauthenticated', 'A node certificate is required.');
      return enrolledNode(nodeId);
    },
    db: services.db,
    log: services.log,
    rateLimits: NO_LIMITS,
    onMismatch: mismatches.onMismatch,
  });
  return server;
}

function quietLogger(): Logger {
  const log = createLogger('test');
  log.level = process.env['GPUAAS_TEST_LOG'] ?? 'silent';
  return log;
}
