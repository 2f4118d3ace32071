import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { unknownFaults, SIMULATED_FAULTS } from '@gpuaas/contracts/simulated-faults';
import { isLoopbackHttp } from '../platform/auth/provider.ts';
import type { AppsSite } from '../domains/access/http/app-host.ts';
import type { BlobSettings } from '../platform/blobs/blobs.ts';
import { databaseLimits, type DatabaseLimits } from '../platform/db/limits.ts';
import { API_AUDIENCE, type OidcSettings } from '../platform/auth/trusted-providers.ts';
import type { StripeSettings } from '../domains/payments/stripe/stripe-provider.ts';
import type { StepCaSettings } from '../platform/keys/step-ca.ts';
import { parseApiKey } from '../platform/maas/api-key.ts';
import type { MaasSettings } from '../platform/maas/maas.ts';
import type { SmtpSettings } from '../platform/outbound/mailer.ts';
import { BlobSettingsError, readBlobSettings } from './settings/blob-settings.ts';
import { PublicProviderSettingsError, readPublicProviders } from './settings/public-provider-settings.ts';
import { SETTINGS, type Setting } from './settings.ts';

/** Settings come from the environment; a flag of the same name wins (`--port` for `GPUAAS_PORT`). */
export interface Config {
  port: number;
  nodePort: number;
  host: string;
  nodeHostnames: string[];
  /** Port that apps are served on, and how browsers reach them. */
  appsPort: number;
  appsSite: AppsSite;
  /** Address at which other processes reach this process's node port; null for its listening address. */
  internalAddress: string | null;
  stepCa: StepCaSettings | null;
  publicUrl: string;
  dataDir: string;
  /** Where payloads and logs are kept. */
  blobs: BlobSettings;
  databaseUrl: string | null;
  databaseLimits: DatabaseLimits;
  /** Events go through JetStream if set; else through the log in Postgres. */
  natsUrl: string | null;
  /** Stores terminal tokens if set; else Postgres does. */
  redisUrl: string | null;
  trustedProxies: string[];
  dnsServers: string[];
  /** Port of `/healthz`, `/readyz` and `/metrics` for a role without a public port. */
  probePort: number | null;
  oidc: Omit<OidcSettings, 'redirectUri'> | null;
  /** Payment provider; without it operators record payments, and the demo has test cards. */
  stripe: StripeSettings | null;
  smtp: SmtpSettings | null;
  /** Installs machines; null unless `MAAS_ENABLED`. */
  maas: MaasSettings | null;
  simNodes: number;
  /** All simulated hosts share one process. */
  simOneProcess: boolean;
  simSpeed: number;
  simFaults: string;
}

/** An invalid setting; the process ends with exit code 2. */
export class ConfigError extends Error {}

const SEE_HELP = '--help lists all options.';

export function readConfig(argv = process.argv.slice(2), env: NodeJS.ProcessEnv = process.env): Config {
  const flags = readFlags(argv);
  const setting = (name: Setting): string | undefined =>
    flags[name] ?? (env[SETTINGS[name].env] || undefined);
  const number = (name: Setting, fallback: number, min: number, max: number): number => {
    const text = setting(name);
    const value = text === undefined ? fallback : Number(text);
    if (Number.isFinite(value) && value >= min && value <= max) return value;
    throw new ConfigError(`${SETTINGS[name].env} must be a number from ${min} to ${max}, not "${text}"`);
  };
  const port = number('port', 8080, 0, 65_535);
  const host = setting('host') ?? '127.0.0.1';
  const issuer = setting('oidc-issuer');
  const nodePort = number('node-port', 8443, 0, 65_535);
  const dataDir = resolve(setting('data-dir') ?? defaultDataDir(env));
  const publicUrl = setting('public-url') ?? `http://${host}:${port}`;
  // The port after the console's, so that a second platform with another port needs no further setting.
  const appsPort = number('apps-port', port === 0 || port === 65_535 ? 0 : port + 1, 0, 65_535);
  const hostnames = nodeHostnames(setting('node-hostnames') ?? '');
  return {
    port,
    nodePort,
    host,
    nodeHostnames: hostnames,
    internalAddress: internalAddress(setting('internal-address')),
    stepCa: readStepCa(setting),
    publicUrl,
    appsPort,
    appsSite: appsSite(setting('apps-domain') ?? `localhost:${appsPort}`, publicUrl),
    dataDir,
    blobs: readBlobs(setting, env, dataDir),
    databaseUrl: setting('database-url') ?? null,
    databaseLimits: databaseLimits({
      connectMs: number('database-connect-seconds', 5, 0.1, 600) * 1000,
      statementMs: number('database-statement-seconds', 30, 0.1, 3600) * 1000,
      workStatementMs: number('database-work-seconds', 600, 1, 86_400) * 1000,
    }),
    natsUrl: setting('nats-url') ?? null,
    redisUrl: redisUrl(setting('redis-url')),
    trustedProxies: addresses(setting('trusted-proxies') ?? ''),
    dnsServers: listed(setting('dns-servers') ?? ''),
    probePort: setting('probe-port') === undefined ? null : number('probe-port', 0, 1, 65_535),
    oidc: readProviders(issuer, setting),
    stripe: readStripe(setting('stripe-api-url'), env),
    smtp: readSmtp(setting),
    maas: readMaas(setting, env, hostnames[0] === undefined ? null : `https://${hostnames[0]}:${nodePort}`),
    ...simulatedHosts(number('sim-nodes', 2, 0, 1000), setting('sim-processes') ?? 'each'),
    simSpeed: number('sim-speed', 1, 0, 10),
    simFaults: knownFaults(setting('sim-faults') ?? ''),
  };
}

function readProviders(
  issuer: string | undefined,
  setting: (name: Setting) => string | undefined,
): Config['oidc'] {
  try {
    const publicProviders = readPublicProviders(setting, issuer !== undefined);
    return issuer === undefined ? null : { ...readOidc(issuer, setting), publicProviders };
  } catch (error) {
    if (error instanceof PublicProviderSettingsError) throw new ConfigError(error.message);
    throw error;
  }
}

function readOidc(
  issuer: string,
  setting: (name: Setting) => string | undefined,
): Omit<OidcSettings, 'redirectUri'> {
  if (!URL.canParse(issuer) || !(issuer.startsWith('https://') || isLoopbackHttp(issuer))) {
    throw new ConfigError('GPUAAS_OIDC_ISSUER must be an https URL; plain http only on this machine');
  }
  const clientId = required(setting('oidc-client-id'), SETTINGS['oidc-client-id'].env);
  const audience = setting('oidc-audience') ?? API_AUDIENCE;
  // The audience of an ID token is the client, so it would pass as an access token.
  if (audience === clientId)
    throw new ConfigError('GPUAAS_OIDC_AUDIENCE must differ from GPUAAS_OIDC_CLIENT_ID');
  return {
    issuer,
    clientId,
    clientSecret: required(setting('oidc-client-secret'), SETTINGS['oidc-client-secret'].env),
    audience,
    scopes: setting('oidc-scopes') ?? 'openid email profile',
    cliClientId: setting('oidc-cli-client-id') ?? null,
  };
}

/** Secrets only come by environment: a flag would show in the list of processes. */
function readStripe(apiUrl: string | undefined, env: NodeJS.ProcessEnv): StripeSettings | null {
  const secretKey = env['STRIPE_SECRET_KEY'];
  const webhookSecret = env['STRIPE_WEBHOOK_SECRET'];
  if (!secretKey && !webhookSecret) return null;
  if (!secretKey || !webhookSecret) {
    throw new ConfigError('STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET must be set together');
  }
  if (
    apiUrl !== undefined &&
    !(URL.canParse(apiUrl) && (apiUrl.startsWith('https://') || isLoopbackHttp(apiUrl)))
  ) {
    throw new ConfigError('GPUAAS_STRIPE_API_URL must be an https URL; plain http only on this machine');
  }
  return { secretKey, webhookSecret, apiUrl: apiUrl === undefined ? null : new URL(apiUrl) };
}

function readStepCa(setting: (name: Setting) => string | undefined): StepCaSettings | null {
  const url = setting('step-ca-url');
  if (url === undefined) return null;
  if (!URL.canParse(url) || !url.startsWith('https://')) {
    throw new ConfigError('GPUAAS_STEP_CA_URL must be an https URL');
  }
  const need = (name: Setting): string => {
    const value = setting(name);
    if (value !== undefined) return value;
    throw new ConfigError(`${SETTINGS[name].env} must be set together with GPUAAS_STEP_CA_URL`);
  };
  const rootFingerprint = need('step-ca-fingerprint').replaceAll(':', '').toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(rootFingerprint)) {
    throw new ConfigError('GPUAAS_STEP_CA_FINGERPRINT must be a SHA-256 in hex');
  }
  return {
    url: new URL(url),
    rootFingerprint,
    provisioner: need('step-ca-provisioner'),
    password: contentOf('step-ca-password-file', need('step-ca-password-file')),
  };
}

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost']);

function readSmtp(setting: (name: Setting) => string | undefined): SmtpSettings | null {
  const text = setting('smtp-url');
  if (text === undefined) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !['smtp:', 'smtps:'].includes(url.protocol) || !url.hostname) {
    throw new ConfigError('GPUAAS_SMTP_URL must be smtp://[user@]host[:port] or smtps://[user@]host[:port]');
  }
  if (url.password) throw new ConfigError('GPUAAS_SMTP_URL: put the password into GPUAAS_SMTP_PASSWORD_FILE');
  const from = setting('smtp-from') ?? '';
  if (!/^(?:[^<>@]*<[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$/.test(from)) {
    throw new ConfigError('GPUAAS_SMTP_FROM must be an address, or Name <address>');
  }
  const secure = url.protocol === 'smtps:';
  const host = url.hostname.replaceAll(/[[\]]/g, '');
  const passwordFile = setting('smtp-password-file');
  const caFile = setting('smtp-ca-file');
  return {
    host,
    port: Number(url.port) || (secure ? 465 : 587),
    secure,
    requireTls: !LOOPBACK.has(host),
    user: url.username ? decodeURIComponent(url.username) : null,
    password: passwordFile === undefined ? null : contentOf('smtp-password-file', passwordFile),
    ca: caFile === undefined ? null : contentOf('smtp-ca-file', caFile),
    from,
  };
}

/** The key only comes by environment or file, as every secret does. */
function readMaas(
  setting: (name: Setting) => string | undefined,
  env: NodeJS.ProcessEnv,
  knownNodeUrl: string | null,
): MaasSettings | null {
  const enabled = setting('maas-enabled') ?? 'false';
  if (enabled !== 'true' && enabled !== 'false') {
    throw new ConfigError(`MAAS_ENABLED must be true or false, not "${enabled}"`);
  }
  if (enabled === 'false') return null;
  const url = setting('maas-url');
  // Every request carries the API key in clear, and installed machines carry enrolment tokens.
  if (url === undefined || !URL.canParse(url) || !(url.startsWith('https://') || isLoopbackHttp(url))) {
    throw new ConfigError(
      'MAAS_URL must be the https URL of MAAS, such as https://maas.example:5443/MAAS; plain http only on this machine',
    );
  }
  const keyFile = setting('maas-api-key-file');
  const key = parseApiKey(
    keyFile === undefined ? (env['MAAS_API_KEY'] ?? '') : contentOf('maas-api-key-file', keyFile),
  );
  if (!key) throw new ConfigError('MAAS_API_KEY or MAAS_API_KEY_FILE must give consumer:token:secret');
  const nodeUrl = setting('maas-node-url') ?? knownNodeUrl;
  if (nodeUrl === null || !URL.canParse(nodeUrl) || !nodeUrl.startsWith('https://')) {
    throw new ConfigError('MAAS_NODE_URL must be the https URL by which machines reach the node port');
  }
  const caFile = setting('maas-ca-file');
  const setupFile = setting('maas-agent-setup-file');
  const names = (name: Setting): string[] | null => {
    const text = setting(name);
    return text === undefined ? null : listed(text);
  };
  return {
    url: new URL(url),
    key,
    ca: caFile === undefined ? null : contentOf('maas-ca-file', caFile),
    deployment: {
      nodeUrl,
      distroSeries: setting('maas-distro-series') ?? null,
      agentSetup: setupFile === undefined ? null : contentOf('maas-agent-setup-file', setupFile),
      commissioningScripts: names('maas-commissioning-scripts'),
      testingScripts: names('maas-testing-scripts'),
    },
  };
}

function readBlobs(
  setting: (name: Setting) => string | undefined,
  env: NodeJS.ProcessEnv,
  dataDir: string,
): BlobSettings {
  const secretKey = env['GPUAAS_BLOBS_S3_SECRET_KEY'];
  try {
    return readBlobSettings({ setting, secretKey, contentOf, defaultFolder: join(dataDir, 'blobs') });
  } catch (error) {
    if (error instanceof BlobSettingsError) throw new ConfigError(error.message);
    throw error;
  }
}

function contentOf(setting: Setting, file: string): string {
  try {
    return readFileSync(file, 'utf8').trimEnd();
  } catch {
    throw new ConfigError(`${SETTINGS[setting].env}: ${file} cannot be read`);
  }
}

function nodeHostnames(text: string): string[] {
  const given = listed(text);
  const wrong = given.find((name) => isIP(name) === 0 && !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(name));
  if (wrong === undefined) return given;
  throw new ConfigError(`GPUAAS_NODE_HOSTNAMES: "${wrong}" is neither a name nor an address`);
}

/** Apps must be another site than the console: a cookie of a shared domain would reach both. */
function appsSite(domain: string, publicUrl: string): AppsSite {
  const name = domain.replace(/:\d{1,5}$/, '');
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(name) || isIP(name) !== 0)
    throw new ConfigError(`GPUAAS_APPS_DOMAIN: "${domain}" is no domain name in lower case`);
  const console = URL.parse(publicUrl)?.hostname ?? '';
  const related = (a: string, b: string): boolean => a === b || a.endsWith(`.${b}`);
  if (name !== 'localhost' && (related(name, console) || related(console, name)))
    throw new ConfigError(`GPUAAS_APPS_DOMAIN: ${name} and the console's ${console} must be different sites`);
  return { scheme: publicUrl.startsWith('https:') ? 'https' : 'http', domain };
}

function redisUrl(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (/^rediss?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new ConfigError('REDIS_URL must be redis://[user:password@]host[:port] or rediss://…');
}

function internalAddress(text: string | undefined): string | null {
  if (text === undefined) return null;
  if (/^[^\s/@?#]+:\d{1,5}$/.test(text) && URL.canParse(`https://${text}`)) return text;
  throw new ConfigError('GPUAAS_INTERNAL_ADDRESS must be host:port');
}

function readFlags(argv: string[]): Partial<Record<Setting, string>> {
  const options = Object.fromEntries(
    Object.keys(SETTINGS).map((name) => [name, { type: 'string' as const }]),
  );
  const { tokens } = parseArgs({ args: argv, options, strict: false, allowPositionals: true, tokens: true });
  const flags: Partial<Record<Setting, string>> = {};
  for (const token of tokens) {
    if (token.kind === 'positional')
      throw new ConfigError(`Unexpected argument "${token.value}". ${SEE_HELP}`);
    if (token.kind !== 'option') continue;
    if (!isSetting(token.name)) throw new ConfigError(`Unknown option ${token.rawName}. ${SEE_HELP}`);
    if (!token.value) throw new ConfigError(`${token.rawName} needs a value. ${SEE_HELP}`);
    flags[token.name] = token.value;
  }
  return flags;
}

function isSetting(name: string): name is Setting {
  return Object.hasOwn(SETTINGS, name);
}

/** Most hosts that a laptop can run as processes; a larger fleet must share one. */
const MOST_PROCESSES = 64;

function simulatedHosts(simNodes: number, processes: string): Pick<Config, 'simNodes' | 'simOneProcess'> {
  if (processes !== 'each' && processes !== 'one') {
    throw new ConfigError(`GPUAAS_SIM_PROCESSES must be "each" or "one", not "${processes}"`);
  }
  if (simNodes > MOST_PROCESSES && processes === 'each') {
    throw new ConfigError(
      `GPUAAS_SIM_NODES: more than ${MOST_PROCESSES} hosts need GPUAAS_SIM_PROCESSES=one, not a process each`,
    );
  }
  return { simNodes, simOneProcess: processes === 'one' };
}

function knownFaults(text: string): string {
  const [unknown] = unknownFaults(text);
  if (unknown === undefined) return text;
  throw new ConfigError(
    `GPUAAS_SIM_FAULTS: "${unknown}" is not known; known are ${SIMULATED_FAULTS.join(', ')}, each also as name@host`,
  );
}

/** Addresses and networks such as `10.0.0.0/8`, with commas. */
function addresses(text: string): string[] {
  const given = listed(text);
  const wrong = given.find((part) => isIP(part.replace(/\/\d{1,3}$/, '')) === 0);
  if (wrong === undefined) return given;
  throw new ConfigError(`GPUAAS_TRUSTED_PROXIES: "${wrong}" is neither an address nor a network`);
}

function listed(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function required(value: string | undefined, name: string): string {
  if (value === undefined) throw new ConfigError(`${name} must be set together with GPUAAS_OIDC_ISSUER`);
  return value;
}

function defaultDataDir(env: NodeJS.ProcessEnv): string {
  return join(env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'gpuaas');
}
