import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** Settings come from the environment; a flag of the same name wins (`--port` for `GPUAAS_PORT`). */
export interface Config {
  port: number;
  nodePort: number;
  host: string;
  publicUrl: string;
  dataDir: string;
  databaseUrl: string | null;
  /** JetStream carries events when set; the log in Postgres does otherwise. */
  natsUrl: string | null;
  allowPrivateWebhooks: boolean;
  oidc: { issuer: string; clientId: string; clientSecret: string } | null;
  simNodes: number;
  simSpeed: number;
  simFaults: string;
  retention: { eventDays: number; auditDays: number | null };
}

export class ConfigError extends Error {}

const FLAGS = {
  port: 'GPUAAS_PORT',
  'node-port': 'GPUAAS_NODE_PORT',
  host: 'GPUAAS_HOST',
  'public-url': 'GPUAAS_PUBLIC_URL',
  'data-dir': 'GPUAAS_DATA_DIR',
  'database-url': 'DATABASE_URL',
  'nats-url': 'NATS_URL',
  'webhooks-allow-private': 'GPUAAS_WEBHOOKS_ALLOW_PRIVATE',
  'oidc-issuer': 'GPUAAS_OIDC_ISSUER',
  'oidc-client-id': 'GPUAAS_OIDC_CLIENT_ID',
  'oidc-client-secret': 'GPUAAS_OIDC_CLIENT_SECRET',
  'sim-nodes': 'GPUAAS_SIM_NODES',
  'sim-speed': 'GPUAAS_SIM_SPEED',
  'sim-faults': 'GPUAAS_SIM_FAULTS',
  'event-retention-days': 'GPUAAS_EVENT_RETENTION_DAYS',
  'audit-retention-days': 'GPUAAS_AUDIT_RETENTION_DAYS',
} as const;

type Flag = keyof typeof FLAGS;

export function readConfig(argv = process.argv.slice(2), env: NodeJS.ProcessEnv = process.env): Config {
  const flags = readFlags(argv);
  const setting = (name: Flag): string | undefined => flags[name] ?? (env[FLAGS[name]] || undefined);
  const number = (name: Flag, fallback: number, min: number, max: number): number => {
    const text = setting(name);
    const value = text === undefined ? fallback : Number(text);
    if (Number.isFinite(value) && value >= min && value <= max) return value;
    throw new ConfigError(`${FLAGS[name]} must be a number from ${min} to ${max}, not "${text}"`);
  };
  const port = number('port', 8080, 0, 65_535);
  const host = setting('host') ?? '127.0.0.1';
  const issuer = setting('oidc-issuer');
  return {
    port,
    nodePort: number('node-port', 8443, 0, 65_535),
    host,
    publicUrl: setting('public-url') ?? `http://${host}:${port}`,
    dataDir: resolve(setting('data-dir') ?? defaultDataDir(env)),
    databaseUrl: setting('database-url') ?? null,
    natsUrl: setting('nats-url') ?? null,
    allowPrivateWebhooks: setting('webhooks-allow-private') === '1',
    oidc: issuer
      ? {
          issuer,
          clientId: required(setting('oidc-client-id'), FLAGS['oidc-client-id']),
          clientSecret: required(setting('oidc-client-secret'), FLAGS['oidc-client-secret']),
        }
      : null,
    simNodes: number('sim-nodes', 2, 0, 64),
    simSpeed: number('sim-speed', 1, 0, 10),
    simFaults: setting('sim-faults') ?? '',
    retention: {
      eventDays: number('event-retention-days', 90, 7, 36_500),
      // Kept for ever unless said otherwise.
      auditDays:
        setting('audit-retention-days') === undefined ? null : number('audit-retention-days', 0, 365, 36_500),
    },
  };
}

function readFlags(argv: string[]): Partial<Record<Flag, string>> {
  const options = Object.fromEntries(Object.keys(FLAGS).map((name) => [name, { type: 'string' as const }]));
  try {
    return parseArgs({ args: argv, options }).values;
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error));
  }
}

function required(value: string | undefined, name: string): string {
  if (value === undefined) throw new ConfigError(`${name} must be set together with GPUAAS_OIDC_ISSUER`);
  return value;
}

function defaultDataDir(env: NodeJS.ProcessEnv): string {
  return join(env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'gpuaas');
}
