interface SettingDescription {
  env: string;
  /** The default, in words. */
  otherwise: string;
  about: string;
}

/** Every setting: the key is the flag, with its environment variable. */
export const SETTINGS = {
  port: { env: 'GPUAAS_PORT', otherwise: '8080', about: 'console and API' },
  'node-port': { env: 'GPUAAS_NODE_PORT', otherwise: '8443', about: 'node agents (mTLS)' },
  'apps-port': { env: 'GPUAAS_APPS_PORT', otherwise: 'the port + 1', about: 'apps in the browser' },
  'apps-domain': {
    env: 'GPUAAS_APPS_DOMAIN',
    otherwise: 'localhost:<apps port>',
    about:
      "domain whose first label names an app, with the port if browsers use another than the scheme's; a separate registrable domain, never under the console's",
  },
  'node-hostnames': {
    env: 'GPUAAS_NODE_HOSTNAMES',
    otherwise: 'localhost and 127.0.0.1 alone',
    about:
      'names and addresses, with commas, by which hosts reach the node port; its certificate carries them',
  },
  'internal-address': {
    env: 'GPUAAS_INTERNAL_ADDRESS',
    otherwise: '<host>:<node port>',
    about: 'host:port by which the other processes of the platform reach the node port of this one',
  },
  'step-ca-url': {
    env: 'GPUAAS_STEP_CA_URL',
    otherwise: 'a CA of our own',
    about: 'a step-ca server that vouches for hosts instead',
  },
  'step-ca-fingerprint': {
    env: 'GPUAAS_STEP_CA_FINGERPRINT',
    otherwise: 'none',
    about: 'SHA-256 of its root certificate',
  },
  'step-ca-provisioner': {
    env: 'GPUAAS_STEP_CA_PROVISIONER',
    otherwise: 'none',
    about: 'the JWK provisioner there that we sign tokens for',
  },
  'step-ca-password-file': {
    env: 'GPUAAS_STEP_CA_PASSWORD_FILE',
    otherwise: 'none',
    about: "file with the password of that provisioner's key",
  },
  'probe-port': {
    env: 'GPUAAS_PROBE_PORT',
    otherwise: 'none',
    about: '/healthz, /readyz and /metrics of a worker, relay or node-api process',
  },
  host: { env: 'GPUAAS_HOST', otherwise: '127.0.0.1', about: 'address the ports listen on' },
  'public-url': {
    env: 'GPUAAS_PUBLIC_URL',
    otherwise: 'http://<host>:<port>',
    about: 'where browsers reach the console; sign-in comes back to it',
  },
  'dns-servers': {
    env: 'GPUAAS_DNS_SERVERS',
    otherwise: "the machine's own",
    about: 'address or address:port, with commas, asked for the records that prove e-mail domains',
  },
  'trusted-proxies': {
    env: 'GPUAAS_TRUSTED_PROXIES',
    otherwise: 'none',
    about: 'addresses or networks, with commas, whose X-Forwarded headers are believed',
  },
  'data-dir': {
    env: 'GPUAAS_DATA_DIR',
    otherwise: '$XDG_STATE_HOME/gpuaas, else ~/.local/state/gpuaas',
    about: 'database, keys, demo.json, state of the simulated hosts',
  },
  'blobs-dir': {
    env: 'GPUAAS_BLOBS_DIR',
    otherwise: '<data folder>/blobs',
    about: 'folder of payloads and logs, and of content on its way to S3; all processes need the same one',
  },
  'blobs-s3-url': {
    env: 'GPUAAS_BLOBS_S3_URL',
    otherwise: 'none: the folder keeps everything',
    about: 'S3-compatible service that keeps payloads and logs instead, up to 5 GiB each',
  },
  'blobs-s3-bucket': { env: 'GPUAAS_BLOBS_S3_BUCKET', otherwise: 'none', about: 'the bucket there' },
  'blobs-s3-prefix': {
    env: 'GPUAAS_BLOBS_S3_PREFIX',
    otherwise: 'none',
    about: 'what keys in that bucket begin with, such as gpuaas/',
  },
  'blobs-s3-region': {
    env: 'GPUAAS_BLOBS_S3_REGION',
    otherwise: 'us-east-1',
    about: 'region that requests are signed for',
  },
  'blobs-s3-access-key-id': {
    env: 'GPUAAS_BLOBS_S3_ACCESS_KEY_ID',
    otherwise: 'none',
    about: 'access key id there',
  },
  'blobs-s3-secret-key-file': {
    env: 'GPUAAS_BLOBS_S3_SECRET_KEY_FILE',
    otherwise: 'GPUAAS_BLOBS_S3_SECRET_KEY',
    about: 'file with the secret access key',
  },
  'database-url': {
    env: 'DATABASE_URL',
    otherwise: 'embedded',
    about: 'PostgreSQL 15 or newer of your own, as the owner of its database',
  },
  'database-connect-seconds': {
    env: 'GPUAAS_DATABASE_CONNECT_SECONDS',
    otherwise: '5',
    about:
      'how long opening a connection to PostgreSQL may take; four times that for workflows and periodic work',
  },
  'database-statement-seconds': {
    env: 'GPUAAS_DATABASE_STATEMENT_SECONDS',
    otherwise: '30',
    about: 'how long a statement of a request may take; the request is then answered with 503',
  },
  'database-work-seconds': {
    env: 'GPUAAS_DATABASE_WORK_SECONDS',
    otherwise: '600',
    about: 'how long a statement of workflows, periodic work and the relay may take',
  },
  'nats-url': { env: 'NATS_URL', otherwise: 'none', about: 'events go through NATS JetStream' },
  'redis-url': { env: 'REDIS_URL', otherwise: 'none', about: 'terminal tokens are kept in Redis' },
  'oidc-issuer': {
    env: 'GPUAAS_OIDC_ISSUER',
    otherwise: 'embedded, with demo people',
    about: 'an OpenID Connect provider of your own',
  },
  'oidc-client-id': { env: 'GPUAAS_OIDC_CLIENT_ID', otherwise: 'none', about: 'our name at that provider' },
  'oidc-client-secret': {
    env: 'GPUAAS_OIDC_CLIENT_SECRET',
    otherwise: 'none',
    about: 'our secret there; give it by environment, not as a flag',
  },
  'oidc-audience': {
    env: 'GPUAAS_OIDC_AUDIENCE',
    otherwise: 'urn:gpuaas:api',
    about: 'what access tokens of that provider must be meant for',
  },
  'oidc-scopes': {
    env: 'GPUAAS_OIDC_SCOPES',
    otherwise: 'openid email profile',
    about: 'what we ask that provider for',
  },
  'oidc-cli-client-id': {
    env: 'GPUAAS_OIDC_CLI_CLIENT_ID',
    otherwise: 'none: the command line takes API keys only',
    about: 'the public client there that `gpuaas login` uses',
  },
  'google-client-id': {
    env: 'GPUAAS_GOOGLE_CLIENT_ID',
    otherwise: 'none',
    about: 'people may sign in with Google, beside your own provider; our name there',
  },
  'google-client-secret': {
    env: 'GPUAAS_GOOGLE_CLIENT_SECRET',
    otherwise: 'none',
    about: 'our secret at Google; give it by environment, not as a flag',
  },
  'google-issuer': {
    env: 'GPUAAS_GOOGLE_ISSUER',
    otherwise: 'https://accounts.google.com',
    about: 'another address of Google, for tests',
  },
  'github-client-id': {
    env: 'GPUAAS_GITHUB_CLIENT_ID',
    otherwise: 'none',
    about: 'people may sign in with GitHub, beside your own provider; our name there',
  },
  'github-client-secret': {
    env: 'GPUAAS_GITHUB_CLIENT_SECRET',
    otherwise: 'none',
    about: 'our secret at GitHub; give it by environment, not as a flag',
  },
  'github-url': {
    env: 'GPUAAS_GITHUB_URL',
    otherwise: 'https://github.com',
    about: 'address of a GitHub Enterprise server',
  },
  'stripe-api-url': {
    env: 'GPUAAS_STRIPE_API_URL',
    otherwise: "Stripe's own",
    about: 'another address of its API, for tests',
  },
  'smtp-url': {
    env: 'GPUAAS_SMTP_URL',
    otherwise: 'no e-mails',
    about: 'mail server: smtp://[user@]host[:587] with STARTTLS, or smtps://[user@]host[:465]',
  },
  'smtp-password-file': {
    env: 'GPUAAS_SMTP_PASSWORD_FILE',
    otherwise: 'none',
    about: 'file with the password of that user',
  },
  'smtp-ca-file': {
    env: 'GPUAAS_SMTP_CA_FILE',
    otherwise: 'the well-known authorities',
    about: 'certificates (PEM) that vouch for the mail server',
  },
  'smtp-from': {
    env: 'GPUAAS_SMTP_FROM',
    otherwise: 'none',
    about: 'the sender of e-mails: address, or Name <address>',
  },
  'maas-enabled': {
    env: 'MAAS_ENABLED',
    otherwise: 'false',
    about: '`true`: machines of a MAAS can be imported as hosts; nothing asks it otherwise',
  },
  'maas-url': {
    env: 'MAAS_URL',
    otherwise: 'none',
    about: 'where MAAS is, such as https://maas.example:5443/MAAS',
  },
  'maas-api-key-file': {
    env: 'MAAS_API_KEY_FILE',
    otherwise: 'MAAS_API_KEY',
    about: 'file with the API key of an administrator there: consumer:token:secret',
  },
  'maas-ca-file': {
    env: 'MAAS_CA_FILE',
    otherwise: 'the well-known authorities',
    about: 'certificates (PEM) that vouch for MAAS',
  },
  'maas-node-url': {
    env: 'MAAS_NODE_URL',
    otherwise: 'https://<first of GPUAAS_NODE_HOSTNAMES>:<node port>',
    about: 'the node port as deployed machines reach it',
  },
  'maas-distro-series': {
    env: 'MAAS_DISTRO_SERIES',
    otherwise: "MAAS's default",
    about: 'what is installed on machines, such as ubuntu/noble or custom/gpuaas-host',
  },
  'maas-agent-setup-file': {
    env: 'MAAS_AGENT_SETUP_FILE',
    otherwise: 'the installed image brings it',
    about: 'shell script that puts gpuaas-node-agent on the path of a deployed machine',
  },
  'maas-commissioning-scripts': {
    env: 'MAAS_COMMISSIONING_SCRIPTS',
    otherwise: 'all custom scripts of MAAS',
    about: 'names or tags, with commas, of the custom commissioning scripts to run',
  },
  'maas-testing-scripts': {
    env: 'MAAS_TESTING_SCRIPTS',
    otherwise: "MAAS's own choice",
    about: 'names or tags, with commas, of the hardware tests to run',
  },
  'sim-nodes': { env: 'GPUAAS_SIM_NODES', otherwise: '2', about: 'simulated hosts, 0 to 1000' },
  'sim-processes': {
    env: 'GPUAAS_SIM_PROCESSES',
    otherwise: 'each',
    about: '`each` host runs its agent as a process, or all share `one`; more than 64 hosts need `one`',
  },
  'sim-speed': {
    env: 'GPUAAS_SIM_SPEED',
    otherwise: '1',
    about: '1 = believable timings, 0 = no delays',
  },
  'sim-faults': {
    env: 'GPUAAS_SIM_FAULTS',
    otherwise: 'none',
    about: 'what goes wrong on them, with commas; name@sim-h200-02 for one host',
  },
} as const satisfies Record<string, SettingDescription>;

export type Setting = keyof typeof SETTINGS;

/** These have no flag. */
export const ENVIRONMENT_ONLY = {
  GPUAAS_LOG_LEVEL: 'debug, info, warn, error or silent',
  GPUAAS_METRICS_TOKEN: 'bearer token for /metrics; without it only this machine is answered',
  STRIPE_SECRET_KEY: 'tenants pay through Stripe with it; needs STRIPE_WEBHOOK_SECRET too',
  STRIPE_WEBHOOK_SECRET: 'what Stripe signs its events with, sent to /payments/stripe/events',
  MAAS_API_KEY: 'API key of an administrator of MAAS, consumer:token:secret; or MAAS_API_KEY_FILE',
  GPUAAS_BLOBS_S3_SECRET_KEY: 'secret access key of the bucket; or GPUAAS_BLOBS_S3_SECRET_KEY_FILE',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'where traces go; off when not set',
  GPUAAS_RESOURCE_NAMESPACE: 'the leading words of resource names',
} as const;

export function wantsHelp(argv: readonly string[] = process.argv.slice(2)): boolean {
  return argv.includes('--help') || argv.includes('-h');
}

export function helpText(): string {
  const flags = Object.entries(SETTINGS).flatMap(([flag, { env, otherwise, about }]) => [
    `  --${flag.padEnd(24)} ${env}`,
    `      ${about} (${otherwise})`,
  ]);
  const environment = Object.entries(ENVIRONMENT_ONLY).flatMap(([env, about]) => [
    `  ${env}`,
    `      ${about}`,
  ]);
  return [
    'GPUaaS: turns racks of GPU servers into a cloud.',
    '',
    'Usage: npm start -- [--option value] ...',
    '       node control-plane/src/roles/<api|node-api|worker|relay|migrate>.ts [--option value] ...',
    '',
    'Every option is also an environment variable; the option wins. Defaults are in brackets.',
    '',
    ...flags,
    '',
    'By environment only:',
    '',
    ...environment,
    '',
    'Exit codes: 0 stopped as asked, 1 failed, 2 wrong option or setting, 130 stopped immediately by a second signal.',
  ].join('\n');
}
