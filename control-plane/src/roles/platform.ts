import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openFaultFiles } from '@gpuaas/lab/fault-files';
import type { Lab } from '../domains/fleet/lab.ts';
import { giveDemoCredit } from '../domains/billing/give-demo-credit.ts';
import { retireDemoPeople } from '../domains/tenancy/retire-demo-people.ts';
import { seedDemoPeople, demoPeople, type SeededPerson } from '../domains/tenancy/seed-demo-people.ts';
import {
  API_AUDIENCE,
  CLI_CLIENT_ID,
  CONSOLE_CLIENT_ID,
  createDevIdp,
  type DevIdp,
} from '../platform/auth/dev-idp/dev-idp.ts';
import type { OidcSettings } from '../platform/auth/trusted-providers.ts';
import type { OnMismatch } from '../platform/http/check-answers.ts';
import type { Readiness } from '../platform/http/readiness.ts';
import type { Services } from '../platform/services.ts';
import type { Logger } from '../platform/telemetry/logger.ts';
import { startTracing } from '../platform/telemetry/tracing.ts';
import { startApi } from './api.ts';
import type { Config } from './config.ts';
import { readDemoKeys, writeDemoFile } from './demo-file.ts';
import { startEventConsumers } from './event-consumers.ts';
import { prepareDatabase } from './migrate.ts';
import { openServices } from './open-services.ts';
import { paymentProviderOf } from './payment-provider.ts';
import { addSharedParts, busPart, databasePart } from './readiness-parts.ts';
import { startRelay } from './relay.ts';
import { startWorker } from './worker.ts';

export interface PlatformOptions extends Config {
  databaseUrl: string;
  consoleDir: string | null;
  /** Tests run workers as processes of their own. */
  runWorker: boolean;
  /** In tests: hears of every answer that breaks the contract. */
  onMismatch?: OnMismatch;
  readiness: Readiness;
  log: Logger;
}

/** Where simulated hosts keep their state, each in a folder of its name. */
export function hostsFolder(dataDir: string): string {
  return join(dataDir, 'hosts');
}

export interface Platform {
  services: Services;
  people: SeededPerson[];
  demoFile: string;
  nodeUrl: string;
}

/** Control plane of one machine: API, node API, gateway, worker and the embedded identity provider. */
export async function startPlatform(
  options: PlatformOptions,
  onStop: (stop: () => Promise<void>) => void,
): Promise<Platform> {
  const { databaseUrl, dataDir, stepCa, maas, readiness, log } = options;
  onStop(await startTracing('platform'));
  await prepareDatabase(databaseUrl, (line) => log.info(line));
  const { services, close } = await openServices({ databaseUrl, dataDir, stepCa, maas, log });
  onStop(close);
  readiness.add(databasePart(services));
  const paymentProvider = paymentProviderOf(services, options);
  if (options.runWorker) {
    const engine = await startWorker(services, { paymentProvider });
    onStop(() => engine.stop());
    const consumers = await startEventConsumers(services, options);
    onStop(() => consumers.stop());
    readiness.add(busPart(consumers.bus));
    if (options.natsUrl) {
      const relay = await startRelay(services, options.natsUrl);
      onStop(() => relay.stop());
    }
    addSharedParts(readiness, services, { natsUrl: options.natsUrl, decide: true });
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

async function seedPeople(services: Services, dataDir: string, issuer: string): Promise<SeededPerson[]> {
  const known = await readDemoKeys(dataDir);
  return await services.db.transaction().execute(async (tx) => {
    const people = await seedDemoPeople(tx, issuer, known);
    await giveDemoCredit(tx, tenantsOf(people));
    return people;
  });
}

function tenantsOf(people: readonly SeededPerson[]): string[] {
  return people.flatMap(({ organizationId }) => organizationId ?? []);
}

async function retirePeople({ db, clock, log }: Services): Promise<[]> {
  const keys = await db.transaction().execute((tx) => retireDemoPeople(tx, clock.now()));
  if (keys > 0) log.warn({ keys }, 'the API keys of the demo people were revoked');
  return [];
}

async function keptSecret(file: string): Promise<string> {
  await mkdir(join(file, '..'), { recursive: true });
  try {
    await writeFile(file, randomBytes(32).toString('base64url'), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  await chmod(file, 0o600);
  return await readFile(file, 'utf8');
}
