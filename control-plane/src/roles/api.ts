import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import cookie from '@fastify/cookie';
import document from '@gpuaas/contracts/generated/openapi.json' with { type: 'json' };
import type { FastifyInstance } from 'fastify';
import { ownedAllocations } from '../domains/allocations/owned-allocations.ts';
import { ownedReservations } from '../domains/allocations/reservations/owned-reservations.ts';
import { endAutoTopUp } from '../domains/payments/auto-top-up/end-auto-top-up.ts';
import { endIdentityProviders } from '../domains/sign-in/end-identity-providers.ts';
import { reservationRoutes } from '../domains/allocations/reservations/routes.ts';
import { certificateRoutes } from '../domains/allocations/certificates/routes.ts';
import { ingressRoutes } from '../domains/allocations/ingress/routes.ts';
import { allocationRoutes } from '../domains/allocations/routes.ts';
import { appUsageRoutes } from '../domains/billing/app-usage/routes.ts';
import { budgetRoutes } from '../domains/billing/budgets/routes.ts';
import { billingRoutes } from '../domains/billing/routes.ts';
import { auditRoutes } from '../domains/audit/routes.ts';
import { quotaRoutes } from '../domains/quotas/routes.ts';
import { entitlementRoutes } from '../domains/catalog/entitlement-routes.ts';
import { imageRoutes } from '../domains/catalog/image-routes.ts';
import { priceRoutes } from '../domains/catalog/price-routes.ts';
import { catalogRoutes } from '../domains/catalog/routes.ts';
import { cleanupRoutes } from '../domains/allocations/cleanup-routes.ts';
import { authorityRoutes } from '../domains/fleet/authority-routes.ts';
import { identityRoutes } from '../domains/fleet/identity-routes.ts';
import { slotRoutes } from '../domains/fleet/slot-routes.ts';
import { nodeOperationRoutes } from '../domains/fleet/operation-routes.ts';
import type { Lab } from '../domains/fleet/lab.ts';
import { maasRoutes } from '../domains/fleet/maas-routes.ts';
import { labRoutes } from '../domains/fleet/lab-routes.ts';
import { fleetRoutes } from '../domains/fleet/routes.ts';
import { incidentRoutes } from '../domains/incidents/routes.ts';
import { identityProviderRoutes } from '../domains/sign-in/identity-provider-routes.ts';
import { domainProver } from '../domains/sign-in/prove-domain.ts';
import { signInRoutes } from '../domains/sign-in/routes.ts';
import { notificationRoutes } from '../domains/notifications/routes.ts';
import { accessRoutes } from '../domains/tenancy/access-routes.ts';
import { policyRoutes } from '../domains/policies/routes.ts';
import { tenancyRoutes } from '../domains/tenancy/routes.ts';
import { signIn } from '../domains/tenancy/sign-in.ts';
import { terminalRoutes } from '../domains/terminal/routes.ts';
import { openGateway, type Gateway } from '../domains/terminal/gateway.ts';
import { postgresTokens } from '../domains/terminal/tokens/postgres-tokens.ts';
import { redisTokens } from '../domains/terminal/tokens/redis-tokens.ts';
import { TunnelHub } from '../domains/terminal/tunnel/tunnel-hub.ts';
import { paymentAdminRoutes } from '../domains/payments/admin-routes.ts';
import type { PaymentProvider } from '../domains/payments/provider.ts';
import { paymentRoutes } from '../domains/payments/routes.ts';
import { reportRoutes } from '../domains/reports/routes.ts';
import { statementRoutes } from '../domains/statements/routes.ts';
import { ownedWebhooks } from '../domains/webhooks/owned-webhooks.ts';
import { webhookRoutes } from '../domains/webhooks/routes.ts';
import { authenticate } from '../platform/auth/authenticate.ts';
import type { Caller } from '../platform/auth/caller.ts';
import type { DevIdp } from '../platform/auth/dev-idp/dev-idp.ts';
import { BearerTokens } from '../platform/auth/bearer-tokens.ts';
import { OidcLogin } from '../platform/auth/oidc-login.ts';
import { SessionCookies } from '../platform/auth/session-cookies.ts';
import { TenantProviders } from '../platform/auth/tenant-providers.ts';
import { TrustedProviders, type OidcSettings } from '../platform/auth/trusted-providers.ts';
import { actingAs, inScope } from '../platform/db/scope.ts';
import { EventTail } from '../platform/events/tail.ts';
import { eventTailReadiness } from '../platform/http/event-tail-readiness.ts';
import { streamEvents } from '../platform/events/stream-route.ts';
import type { OnMismatch } from '../platform/http/check-answers.ts';
import { KEEP_ALIVE_MS } from '../platform/http/keep-alive.ts';
import { createContractServer } from '../platform/http/contract-server.ts';
import type { ContractDocument } from '../platform/http/operation.ts';
import { policyRateLimits, type RateLimits } from '../platform/http/rate-limits.ts';
import type { Readiness } from '../platform/http/readiness.ts';
import { serveConsole } from '../platform/http/serve-console.ts';
import { systemRoutes } from '../platform/http/system-routes.ts';
import type { Services } from '../platform/services.ts';
import { createMetrics, type Metrics } from '../platform/telemetry/metrics.ts';
import { startNodeApi } from './node-api.ts';
import { builtConsole } from './build-console.ts';
import { ConfigError } from './config.ts';
import { isEntryPoint, runRole } from './entry-point.ts';
import { requireFreePort } from './free-port.ts';
import { addSharedParts, busPart } from './readiness-parts.ts';
import { paymentProviderOf } from './payment-provider.ts';
import { openRoleProcess } from './role-process.ts';
import { checkListener } from '../platform/events/embedded-bus.ts';

export interface ApiOptions {
  host: string;
  port: number;
  nodePort: number;
  nodeHostnames?: readonly string[];
  /** Where other processes reach the node port of this one. */
  internalAddress?: string | null;
  publicUrl: string;
  oidc: OidcSettings;
  /** Serves the embedded identity provider under its issuer's path. */
  devIdp: DevIdp | null;
  /** Folder of the built console; null serves the API alone. */
  consoleDir: string | null;
  readiness: Readiness;
  onMismatch?: OnMismatch;
  rateLimits?: RateLimits;
  /** Who is asked for the records that prove a domain; the machine's own resolvers when empty. */
  dnsServers?: string[];
  /** Keeps terminal tokens; PostgreSQL does otherwise. */
  redisUrl?: string | null;
  /** Addresses or networks whose `X-Forwarded-*` headers are believed. */
  trustedProxies?: string[];
  /** Simulated hosts that may be broken on purpose; left out, there are none. */
  lab?: Lab | null;
  /** Who takes tenants' money; left out, operators record what they receive. */
  paymentProvider?: PaymentProvider | null;
}

export interface Api {
  stop(): Promise<void>;
}

/** The public API with console and terminal gateway, and the node API beside it. */
export async function startApi(services: Services, options: ApiOptions): Promise<Api> {
  const { hub, metrics, stop } = await startPublicApi(services, options);
  const nodeApi = await startNodeApi(services, hub, { ...options, metrics });
  return {
    async stop() {
      await Promise.all([nodeApi.stop(), stop()]);
    },
  };
}

/** The public API with console and terminal gateway. */
export async function startPublicApi(
  services: Services,
  options: Omit<ApiOptions, 'nodePort'>,
): Promise<{ hub: TunnelHub; metrics: Metrics; stop(): Promise<void> }> {
  const { server, ...api } = await createApi(services, options);
  await server.listen({ host: options.host, port: options.port });
  return api;
}

type ServerOptions = Omit<ApiOptions, 'host' | 'port' | 'nodePort'>;

/** The public API before it listens. */
export async function createApi(
  base: Services,
  options: ServerOptions,
): Promise<{ server: FastifyInstance; hub: TunnelHub; metrics: Metrics; stop(): Promise<void> }> {
  // Without a scope of its own a query is that of a tenant of nowhere.
  const services = actingAs(base, 'gpuaas_tenant');
  const readsLog = actingAs(base, 'gpuaas_relay').db;
  const { log } = services;
  const tail = new EventTail(readsLog, services.listener, log);
  await tail.start();
  options.readiness.add(eventTailReadiness(readsLog, tail));
  const metrics = createMetrics(services.database, log);
  const hub = new TunnelHub(log, metrics.streams);
  const asGateway = actingAs(base, 'gpuaas_gateway');
  const redis = options.redisUrl ? redisTokens(options.redisUrl, log) : null;
  if (redis) options.readiness.add({ name: 'redis', check: () => redis.check() });
  const terminalTokens = redis ?? postgresTokens(asGateway);
  const gateway = openGateway(asGateway, {
    hub,
    tail,
    tokens: terminalTokens,
    metrics: metrics.streams,
    publicUrl: options.publicUrl,
  });
  const identities = actingAs(base, 'gpuaas_auth').db;
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
  const cookies = new SessionCookies(options.publicUrl);
  const sessions = { cookies, idleSeconds: () => services.policies.get('auth.session_idle_seconds') };
  const payments = { worker: actingAs(base, 'gpuaas_worker'), provider: options.paymentProvider ?? null };
  const handlers = {
    ...systemRoutes({ readiness: options.readiness, document, metrics }),
    ...tenancyRoutes(),
    ...signInRoutes(services, {
      login,
      providers,
      cookies,
      oidc: options.oidc,
      publicUrl: options.publicUrl,
    }),
    ...identityProviderRoutes(services, {
      redirectUri: options.oidc.redirectUri,
      isPlatformIssuer: (issuer) => providers.isPlatform(issuer),
      proveDomain: domainProver(options.dnsServers ?? []),
    }),
    ...billingRoutes(services),
    ...appUsageRoutes(services),
    ...budgetRoutes(services),
    ...paymentRoutes(services, payments),
    ...paymentAdminRoutes(services, payments),
    ...statementRoutes(),
    ...reportRoutes(),
    ...accessRoutes(services, {
      publicUrl: options.publicUrl,
      owners: [ownedAllocations, ownedReservations(services.clock), ownedWebhooks],
      atClosing: [endIdentityProviders, endAutoTopUp],
    }),
    ...catalogRoutes(services),
    ...entitlementRoutes(services),
    ...imageRoutes(services),
    ...priceRoutes(services),
    ...quotaRoutes(services),
    ...allocationRoutes(services),
    ...certificateRoutes(services),
    ...ingressRoutes(services),
    ...reservationRoutes(services),
    ...terminalRoutes(services, terminalTokens, { services: asGateway, hub }),
    ...fleetRoutes(services),
    ...nodeOperationRoutes(services),
    ...slotRoutes(services),
    ...identityRoutes(services),
    ...authorityRoutes(services),
    ...maasRoutes(services),
    ...labRoutes(options.lab ?? null),
    ...cleanupRoutes(services),
    ...incidentRoutes(services),
    ...policyRoutes(services),
    ...auditRoutes(services),
    ...webhookRoutes(services),
    ...notificationRoutes(services),
    streamEvents: streamEvents(services, tail),
  };
  const { server, stop } = await createContractServer<Caller>({
    name: 'public',
    document: document as unknown as ContractDocument,
    handlers,
    authenticate: (request, operation) =>
      authenticate(services.database, request, operation, { tokens, sessions }),
    db: services.db,
    log,
    metrics: metrics.http,
    rateLimits: options.rateLimits ?? policyRateLimits(services.policies),
    ...(options.onMismatch ? { onMismatch: options.onMismatch } : {}),
    fastify: {
      serverFactory: (handler) =>
        createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, withDevIdp(options.devIdp, handler)),
      trustProxy: options.trustedProxies?.length ? options.trustedProxies : false,
    },
    prepare: async (instance) => {
      await instance.register(cookie);
    },
  });
  if (options.consoleDir) await serveConsole(server, options.consoleDir);
  routeUpgrades(server, gateway);
  return {
    server,
    hub,
    metrics,
    async stop() {
      await gateway.close();
      redis?.close();
      hub.close();
      await stop();
      await tail.stop();
      metrics.stop();
    },
  };
}

type RawHandler = (request: IncomingMessage, response: ServerResponse) => void;

function withDevIdp(devIdp: DevIdp | null, handler: RawHandler): RawHandler {
  if (!devIdp) return handler;
  const mount = new URL(devIdp.issuer).pathname;
  return (request, response) => {
    const path = request.url?.split('?')[0] ?? '';
    if (path === mount || path.startsWith(`${mount}/`)) devIdp.handle(request, response);
    else handler(request, response);
  };
}

function routeUpgrades(server: FastifyInstance, gateway: Gateway): void {
  server.server.on('upgrade', (request: IncomingMessage, socket, head: Buffer) => {
    if (!gateway.accept(request, socket, head))
      socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n');
  });
}

if (isEntryPoint(import.meta.filename)) {
  await runRole(async (onStop) => {
    const { config, services, readiness, log } = await openRoleProcess('api', onStop);
    if (!config.oidc)
      throw new ConfigError(
        'GPUAAS_OIDC_ISSUER must name an identity provider; the embedded one comes only with npm start',
      );
    await requireFreePort(config.host, config.port, 'GPUAAS_PORT');
    readiness.add(busPart({ kind: 'embedded', check: () => checkListener(services.listener) }));
    addSharedParts(readiness, services, { natsUrl: config.natsUrl, decide: false });
    const consoleDir = await builtConsole();
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
