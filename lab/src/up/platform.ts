import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openFaultFiles } from '../fault-files.ts';
import type { Lab } from '@gpuaas/control-plane/domains/fleet/lab/lab';
import { grantDemoCredit } from '@gpuaas/control-plane/domains/billing/ledger/grant-demo-credit';
import { retireDemoPeople } from '@gpuaas/control-plane/domains/tenancy/retire-demo-people';
import {
  seedDemoPeople,
  demoPeople,
  type SeededPerson,
} from '@gpuaas/control-plane/domains/tenancy/seed-demo-people';
import {
  API_AUDIENCE,
  CLI_CLIENT_ID,
  CONSOLE_CLIENT_ID,
  createDevIdp,
  type DevIdp,
} from '@gpuaas/control-plane/platform/auth/dev-idp/dev-idp';
import type { OidcSettings } from '@gpuaas/control-plane/platform/auth/trusted-providers';
import type { OnContractMismatch } from '@gpuaas/control-plane/platform/http/responses/validate-responses';
import type { Readiness } from '@gpuaas/control-plane/platform/http/probes/readiness';
import type { PlatformServices } from '@gpuaas/control-plane/roles/domain-answers';
import type { Logger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { startTracing } from '@gpuaas/control-plane/platform/telemetry/tracing';
import { startApi } from '@gpuaas/control-plane/roles/api';
import type { Config } from '@gpuaas/control-plane/roles/config';
import { readDemoKeys, writeDemoFile } from './demo-file.ts';
import { requireLoopbackForDemo } from '@gpuaas/control-plane/roles/demo-provider';
import { startEventConsumers } from '@gpuaas/control-plane/roles/event-consumers';
import { prepareDatabase } from '@gpuaas/control-plane/roles/migrate';
import { openServices } from '@gpuaas/control-plane/roles/open-services';
import { paymentProviderOf } from '@gpuaas/control-plane/roles/payment-provider';
import {
  addSharedReadinessChecks,
  busReadiness,
  databaseReadiness,
} from '@gpuaas/control-plane/roles/readiness-parts';
import { startRelay } from '@gpuaas/control-plane/roles/relay';
import { startWorker } from '@gpuaas/control-plane/roles/worker';

export interface PlatformOptions extends Config {
  databaseUrl: string;
  consoleDir: string | null;
  /** Tests run workers as separate processes. */
  runWorker: boolean;
  /** In tests: hears of every answer that breaks the contract. */
  onMismatch?: OnContractMismatch;
  readiness: Readiness;
  log: Logger;
}

/** Where simulated hosts keep their state, each in a folder of its name. */
export function hostsFolder(dataDir: string): string {
  return join(dataDir, 'hosts');
}

export interface Platform {
  services: PlatformServices;
  people: SeededPerson[];
  demoFile: string;
  nodeUrl: string;
}

/** Control plane of one machine: API, node API, gateway, worker and the embedded identity provider. */
export async function startPlatform(
  options: PlatformOptions,
  onStop: (stop: () => Promise<void>) => void,
): Promise<Platform> {
  const { databaseUrl, dataDir, stepCa, maas, databaseLimits, blobs, readiness, log } = options;
  requireLoopbackForDemo(options);
  onStop(await startTracing('platform'));
  await prepareDatabase(databaseUrl, (line) => log.info(line));
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
  readiness.add(databaseReadiness(services));
  const paymentProvider = paymentProviderOf(services, options);
  if (options.runWorker) {
    const engine = await startWorker(services, {
      paymentProvider,
      appRuntime: { apiUrl: options.publicUrl },
    });
    onStop(() => engine.stop());
    const consumers = await startEventConsumers(services, options);
    onStop(() => consumers.stop());
    readiness.add(busReadiness(consumers.bus));
    if (options.natsUrl) {
      const relay = await startRelay(services, options.natsUrl);
      onStop(() => relay.stop());
    }
    addSharedReadinessChecks(readiness, services, { natsUrl: options.natsUrl, decide: true });
  }
  const { oidc, devIdp } = await identityProvider(options);
  const people = devIdp ? await seedPeople(services, dataDir, devIdp.issuer) : await retirePeople(services);
  const lab = labOf(options, devIdp);
  const api = await startApi(services, { ...options, oidc, devIdp, lab, paymentProvider });
  onStop(() => api.stop());
  const nodeUrl = `https://127.0.0.1:${options.nodePort}`;
  const demoFile = await writeDemoFile(dataDir, { baseUrl: options.publicUrl, nodeUrl }, people);
  return { services, people, demoFile, nodeUrl };
}

/** A lab needs simulated hosts, and is never opened to the people of a real provider. */
function labOf({ dataDir, simNodes, simFaults }: PlatformOptions, devIdp: DevIdp | null): Lab | null {
  if (!devIdp || simNodes === 0) return null;
  return openFaultFiles({ stateDir: hostsFolder(dataDir), configured: simFaults });
}

async function identityProvider(
  options: PlatformOptions,
): Promise<{ oidc: OidcSettings; devIdp: DevIdp | null }> {
  const redirectUri = `${options.publicUrl}/auth/callback`;
  // The embedded provider never runs beside a real one.
  if (options.oidc) return { oidc: { ...options.oidc, redirectUri }, devIdp: null };
  const clientSecret = await keptSecret(join(options.dataDir, 'dev-idp-client.secret'));
  const devIdp = await createDevIdp({
    issuer: `${options.publicUrl}/idp`,
    people: demoPeople.map(({ key, email, name, password }) => ({ sub: key, email, name, password })),
    keyFile: join(options.dataDir, 'dev-idp-keys.json'),
    clients: { consoleRedirectUri: redirectUri, consoleClientSecret: clientSecret },
  });
  const oidc = {
    issuer: devIdp.issuer,
    clientId: CONSOLE_CLIENT_ID,
    clientSecret,
    redirectUri,
    audience: API_AUDIENCE,
    scopes: 'openid email profile',
    cliClientId: CLI_CLIENT_ID,
  };
  return { oidc, devIdp };
}

async function seedPeople(
  services: PlatformServices,
  dataDir: string,
  issuer: string,
): Promise<SeededPerson[]> {
  const known = await readDemoKeys(dataDir);
  return await services.db.transaction().execute(async (tx) => {
    const people = await seedDemoPeople(tx, issuer, known);
    await grantDemoCredit(tx, tenantsOf(people));
    return people;
  });
}

function tenantsOf(people: readonly SeededPerson[]): string[] {
  return people.flatMap(({ organizationId }) => organizationId ?? []);
}

async function retirePeople({ db, clock, log }: PlatformServices): Promise<[]> {
  const keys = await db.transaction().execute((tx) => retireDemoPeople(tx, clock.now()));
  if (keys > 0) log.warn({ keys }, 'the API keys of the demo people were revoked');
  return [];
}

async function keptSecret(file: string): Promise<string> {
  await mkdir(join(file, '..'), { recursive: true });
  try {
    await writeFile(file, randomBytes(32).toString('base64url'), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  await chmod(file, 0o600);
  return await readFile(file, 'utf8');
}
