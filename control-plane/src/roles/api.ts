import { createServer, type IncomingMessage } from 'node:http';
import cookie from '@fastify/cookie';
import document from '@gpuaas/contracts/generated/openapi.json' with { type: 'json' };
import type { FastifyInstance } from 'fastify';
import type { Lab } from '../domains/fleet/lab/lab.ts';
import { serveRegistry } from '../domains/apps/artifacts/registry/serve-registry.ts';
import { createDomainVerifier } from '../domains/sign-in/verify-domain.ts';
import { signIn } from '../domains/tenancy/sign-in.ts';
import { openGateway } from '../domains/access/gateway.ts';
import type { AppsSite } from '../domains/access/http/app-host.ts';
import { openAppGateway, type OpenAppGateway } from '../domains/access/http/open-app-gateway.ts';
import { appDirectory } from '../domains/apps/addresses/find-apps.ts';
import { isWebSocket } from '../domains/access/http/forward-upgrade.ts';
import { serveApps } from '../domains/access/http/serve-apps.ts';
import { postgresTokens } from '../domains/access/tokens/postgres-tokens.ts';
import { redisTokens } from '../domains/access/tokens/redis-tokens.ts';
import { TunnelHub } from '../domains/access/tunnel/tunnel-hub.ts';
import type { PaymentProvider } from '../domains/payments/provider.ts';
import { authenticate } from '../domains/tenancy/credentials/authenticate.ts';
import { refreshBindings } from '../domains/tenancy/credentials/refresh-bindings.ts';
import { requirePermission, type Caller } from '../platform/auth/caller.ts';
import type { DevIdp } from '../platform/auth/dev-idp/dev-idp.ts';
import { BearerTokens } from '../platform/auth/bearer-tokens.ts';
import { OidcLogin } from '../platform/auth/oidc-login.ts';
import { SignInCookies } from '../platform/auth/sign-in-cookies.ts';
import { TenantProviders } from '../domains/sign-in/tenant-providers.ts';
import { TrustedProviders, type OidcSettings } from '../platform/auth/trusted-providers.ts';
import { servicesAsRole, inScope } from '../platform/db/scope.ts';
import { EventTail } from '../platform/events/tail.ts';
import { eventTailReadiness } from '../platform/http/probes/event-tail-readiness.ts';
import { streamEvents } from '../platform/events/stream-events.ts';
import type { OnContractMismatch } from '../platform/http/responses/validate-responses.ts';
import { KEEP_ALIVE_MS } from '../platform/http/keep-alive.ts';
import { clientAddresses } from '../platform/http/client-address.ts';
import { createContractServer } from '../platform/http/contract-server.ts';
import type { ContractDocument } from '../platform/http/operation.ts';
import { policyRateLimits, type RateLimits } from '../platform/http/admission/rate-limits.ts';
import type { Readiness } from '../platform/http/probes/readiness.ts';
import { serveConsole } from '../platform/http/serve-console.ts';
import { checkLimits } from '../platform/http/resource-limits.ts';
import {
  guardRequests,
  guardUpgrades,
  refuseExpectations,
  type RawHandler,
} from '../platform/http/wire/guard-requests.ts';
import { limitBodyTime, LISTENER_TIMEOUTS } from '../platform/http/wire/limit-body-time.ts';
import { systemRoutes } from '../platform/http/probes/system-routes.ts';
import { createMetrics, type Metrics } from '../platform/telemetry/metrics.ts';
import { startNodeApi } from './node-api.ts';
import { findBuiltConsole } from './built-console.ts';
import { ConfigError } from './config.ts';
import type { PlatformServices } from './domain-answers.ts';
import { domainLimits, domainRoutes } from './domain-modules.ts';
import { domainGauges } from './domain-gauges.ts';
import { isEntryPoint, runRole } from './entry-point.ts';
import { requireFreePort } from './free-port.ts';
import { addSharedReadinessChecks, busReadiness } from './readiness-parts.ts';
import { paymentProviderOf } from './payment-provider.ts';
import { openRoleProcess } from './role-process.ts';
import { checkListener } from '../platform/events/embedded-bus.ts';

export interface ApiOptions {
  host: string;
  port: number;
  nodePort: number;
  nodeHostnames?: readonly string[];
  /** Address at which other processes reach this process's node port. */
  internalAddress?: string | null;
  publicUrl: string;
  /** How browsers reach apps; under `localhost` if omitted. */
  appsSite?: AppsSite;
  /** Port of apps in this process; none if omitted, as another process serves them. */
  appsPort?: number | null;
  oidc: OidcSettings;
  /** Serves the embedded identity provider under its issuer's path. */
  devIdp: DevIdp | null;
  /** Folder of the built console; null serves only the API. */
  consoleDir: string | null;
  readiness: Readiness;
  onMismatch?: OnContractMismatch;
  rateLimits?: RateLimits;
  /** Resolvers for the records that prove a domain; the machine's own if empty. */
  dnsServers?: string[];
  /** Stores terminal tokens; PostgreSQL does if omitted. */
  redisUrl?: string | null;
  /** Addresses or networks whose `X-Forwarded-*` headers are trusted. */
  trustedProxies?: string[];
  /** Simulated hosts that accept faults on purpose; none if omitted. */
  lab?: Lab | null;
  /** Payment provider; without one, operators record the payments they receive. */
  paymentProvider?: PaymentProvider | null;
}

export interface Api {
  stop(): Promise<void>;
}

/** As `npm start` serves apps. */
const DEFAULT_APPS_SITE: AppsSite = { scheme: 'http', domain: 'localhost:8081' };

/** The public API with console and terminal gateway, and the node API beside it. */
export async function startApi(services: PlatformServices, options: ApiOptions): Promise<Api> {
  const { hub, metrics, apps, stop } = await startPublicApi(services, options);
  const nodeApi = await startNodeApi(services, hub, { ...options, metrics });
  const { host, appsPort: port = null } = options;
  const maxConnections = services.policies.get('http.max_connections');
  const listener = port === null ? null : await serveApps(apps.origins, { host, port, maxConnections });
  return {
    async stop() {
      // The gateway cuts what is open, so the listener must not wait for it.
      await Promise.all([nodeApi.stop(), stop(), listener?.stop()]);
    },
  };
}

/** The public API with console and terminal gateway. */
export async function startPublicApi(
  services: PlatformServices,
  options: Omit<ApiOptions, 'nodePort'>,
): Promise<{ hub: TunnelHub; metrics: Metrics; apps: OpenAppGateway; stop(): Promise<void> }> {
  const { server, ...api } = await createApi(services, options);
  await server.listen({ host: options.host, port: options.port });
  return api;
}

type ServerOptions = Omit<ApiOptions, 'host' | 'port' | 'nodePort'>;

/** The public API before it listens. */
export async function createApi(
  base: PlatformServices,
  options: ServerOptions,
): Promise<{
  server: FastifyInstance;
  hub: TunnelHub;
  metrics: Metrics;
  apps: OpenAppGateway;
  stop(): Promise<void>;
}> {
  // Without an explicit scope a query sees no tenant.
  const services = servicesAsRole(base, 'gpuaas_tenant');
  const readsLog = servicesAsRole(base, 'gpuaas_relay').db;
  const { log } = services;
  const tail = new EventTail(readsLog, services.listener, log);
  await tail.start();
  options.readiness.add(eventTailReadiness(readsLog, tail));
  const metrics = createMetrics(services.database, log, domainGauges);
  const hub = new TunnelHub(log, metrics.streams);
  const asGateway = servicesAsRole(base, 'gpuaas_gateway');
  const redis = options.redisUrl ? redisTokens(options.redisUrl, log) : null;
  if (redis) options.readiness.add({ name: 'redis', check: () => redis.check() });
  const terminalTokens = redis ?? postgresTokens(asGateway);
  const gateway = openGateway(asGateway, {
    hub,
    tail,
    tokens: terminalTokens,
    metrics: metrics.streams,
    publicUrl: options.publicUrl,
    addressOf: clientAddresses(options.trustedProxies ?? []),
  });
  const appsSite = options.appsSite ?? DEFAULT_APPS_SITE;
  const apps = openAppGateway(asGateway, {
    hub,
    tail,
    apps: appDirectory,
    metrics: metrics.streams,
    site: appsSite,
    consoleUrl: options.publicUrl,
    addressOf: clientAddresses(options.trustedProxies ?? []),
  });
  const identities = servicesAsRole(base, 'gpuaas_auth').db;
  const providers = new TrustedProviders(
    options.oidc,
    new TenantProviders({ ...services, db: identities, redirectUri: options.oidc.redirectUri }),
  );
  const login = new OidcLogin(identities, providers, services.policies);
  const tokens = new BearerTokens({
    providers,
    audience: options.oidc.audience,
    signUp: async (identity) => {
      await inScope(services.db, { role: 'gpuaas_auth' }, (tx) => signIn(tx, identity));
    },
    clock: services.clock,
    policies: services.policies,
  });
  const cookies = new SignInCookies(options.publicUrl);
  const signIns = { cookies, idleSeconds: () => services.policies.get('auth.sign_in_idle_seconds') };
  const payments = {
    worker: servicesAsRole(base, 'gpuaas_worker'),
    provider: options.paymentProvider ?? null,
  };
  const handlers = {
    ...systemRoutes({ readiness: options.readiness, document, metrics }),
    ...domainRoutes(services, {
      publicUrl: options.publicUrl,
      signIn: { login, providers, cookies, oidc: options.oidc, publicUrl: options.publicUrl },
      identityProviders: {
        redirectUri: options.oidc.redirectUri,
        isPlatformIssuer: (issuer) => providers.isPlatform(issuer),
        proveDomain: createDomainVerifier(options.dnsServers ?? []),
      },
      payments,
      gateway: { services: asGateway, hub },
      appsSite,
      apps: appDirectory,
      terminalTokens,
      lab: options.lab ?? null,
    }),
    streamEvents: streamEvents(services, tail, refreshBindings),
  };
  const { server, admit, stop } = await createContractServer<Caller>({
    name: 'public',
    publicUrl: options.publicUrl,
    document: document as ContractDocument,
    handlers,
    authenticate: (request, operation) =>
      authenticate(services.database, request, operation, { tokens, signIns, sealer: services.sealer }),
    db: services.db,
    log,
    metrics: metrics.http,
    requirePermission,
    checkCreation: checkLimits(services, domainLimits),
    rateLimits: options.rateLimits ?? policyRateLimits(services.policies),
    denials: services.denials,
    ...(options.onMismatch ? { onMismatch: options.onMismatch } : {}),
    fastify: {
      serverFactory: (handler) =>
        createServer(
          {
            keepAliveTimeout: KEEP_ALIVE_MS,
            ...LISTENER_TIMEOUTS,
            // Any other upgrade, such as to h2c, is ignored: the request is served without it.
            shouldUpgradeCallback: (request) => gateway.serves(request) || isAppUpgrade(apps, request),
          },
          guardRequests(options, withApps(apps, limitBodyTime(withDevIdp(options.devIdp, handler)))),
        ),
      trustProxy: options.trustedProxies?.length ? options.trustedProxies : false,
    },
    prepare: async (instance) => {
      await instance.register(cookie);
    },
  });
  await serveRegistry(server, { services, publicUrl: options.publicUrl, admit });
  if (options.consoleDir) await serveConsole(server, options.consoleDir, options.publicUrl);
  server.server.maxConnections = services.policies.get('http.max_connections');
  server.server.on(
    'upgrade',
    guardUpgrades(options, (request, socket, head) => {
      if (apps.paths.serves(request)) apps.paths.upgrade(request, socket, head);
      else gateway.accept(request, socket, head);
    }),
  );
  server.server.on('checkExpectation', refuseExpectations(options));
  return {
    server,
    hub,
    metrics,
    apps,
    async stop() {
      await gateway.close();
      await apps.close();
      redis?.close();
      hub.close();
      await stop();
      await tail.stop();
      metrics.stop();
    },
  };
}

/** Programs reach apps at the console's address, too. */
function withApps({ paths }: OpenAppGateway, handler: RawHandler): RawHandler {
  return (request, response) => {
    if (paths.serves(request)) paths.handle(request, response);
    else handler(request, response);
  };
}

function isAppUpgrade({ paths }: OpenAppGateway, request: IncomingMessage): boolean {
  return paths.serves(request) && isWebSocket(request);
}

function withDevIdp(devIdp: DevIdp | null, handler: RawHandler): RawHandler {
  if (!devIdp) return handler;
  const mount = new URL(devIdp.issuer).pathname;
  return (request, response) => {
    const path = request.url?.split('?')[0] ?? '';
    if (path === mount || path.startsWith(`${mount}/`)) devIdp.handle(request, response);
    else handler(request, response);
  };
}

if (isEntryPoint(import.meta.filename)) {
  await runRole(async (onStop) => {
    const { config, services, readiness, log } = await openRoleProcess('api', onStop);
    if (!config.oidc)
      throw new ConfigError(
        'GPUAAS_OIDC_ISSUER must name an identity provider; the embedded one comes only with npm start',
      );
    await requireFreePort(config.host, config.port, 'GPUAAS_PORT');
    readiness.add(busReadiness({ kind: 'embedded', check: () => checkListener(services.listener) }));
    addSharedReadinessChecks(readiness, services, { natsUrl: config.natsUrl, decide: false });
    const consoleDir = await findBuiltConsole();
    if (!consoleDir) log.warn('the console is not built; this process serves the API alone');
    const oidc = { ...config.oidc, redirectUri: `${config.publicUrl}/auth/callback` };
    const paymentProvider = paymentProviderOf(services, config);
    const api = await startPublicApi(services, {
      ...config,
      oidc,
      devIdp: null,
      consoleDir,
      readiness,
      paymentProvider,
    });
    onStop(() => api.stop());
    log.info({ port: config.port }, 'API ready');
  });
}
