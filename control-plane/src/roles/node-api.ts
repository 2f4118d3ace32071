import type { IncomingMessage } from 'node:http';
import { createServer, type Server } from 'node:https';
import { hostname } from 'node:os';
import type { Duplex } from 'node:stream';
import document from '@gpuaas/contracts/generated/node-openapi.json' with { type: 'json' };
import { listeningPort } from '@gpuaas/contracts/listening-port';
import {
  authenticateNode,
  enrollingNode,
  showsOwnCertificate,
  type NodeCaller,
} from '../domains/fleet/identity/node-caller.ts';
import { nodeRoutes } from '../domains/fleet/node-routes.ts';
import { nodeTaskRoutes } from '../domains/tasks/node-routes.ts';
import { REVOKED_CHANNEL, filterRevoked } from '../domains/fleet/identity/revoke-identity.ts';
import { isStreamPath, serveReplica } from '../domains/access/tunnel/serve-replica.ts';
import { TunnelHub } from '../domains/access/tunnel/tunnel-hub.ts';
import { registerTunnels } from '../domains/access/tunnel/tunnel-registry.ts';
import { servicesAsRole } from '../platform/db/scope.ts';
import { endSocket } from '../platform/http/wire/end-socket.ts';
import type { OnContractMismatch } from '../platform/http/responses/validate-responses.ts';
import { KEEP_ALIVE_MS } from '../platform/http/keep-alive.ts';
import { createContractServer } from '../platform/http/contract-server.ts';
import { networkOf } from '../platform/http/admission/client-network.ts';
import { CredentialRefusedError } from '../platform/http/admission/credential-refused.ts';
import { denialOf } from '../platform/http/admission/denial-log.ts';
import { policyRateLimits, RateLimiter } from '../platform/http/admission/rate-limits.ts';
import type { ContractDocument } from '../platform/http/operation.ts';
import { newId } from '../platform/ids.ts';
import type { Services } from '../platform/services.ts';
import { createMetrics, type Metrics } from '../platform/telemetry/metrics.ts';
import { checkListener } from '../platform/events/embedded-bus.ts';
import type { PlatformServices } from './domain-answers.ts';
import { domainGauges } from './domain-gauges.ts';
import { isEntryPoint, runRole } from './entry-point.ts';
import { requireFreePort } from './free-port.ts';
import { refreshNodeTls, nodeTls } from './node-tls.ts';
import { busReadiness } from './readiness-parts.ts';
import { openRoleProcess, serveProbes } from './role-process.ts';

export interface NodeApi {
  port: number;
  stop(): Promise<void>;
}

/** The agents' port: TLS 1.3, client certificates of our own CA for everything except enrolment. */
export async function startNodeApi(
  base: PlatformServices,
  hub: TunnelHub,
  options: {
    host: string;
    nodePort: number;
    /** Names and addresses by which agents reach this port, besides this machine's own. */
    nodeHostnames?: readonly string[];
    /** Address at which other processes reach this port; the listening `host:port` if omitted. */
    internalAddress?: string | null;
    onMismatch?: OnContractMismatch;
    metrics: Pick<Metrics, 'http' | 'streams'>;
  },
): Promise<NodeApi> {
  const services = servicesAsRole(base, 'gpuaas_node');
  const names = [...(options.nodeHostnames ?? []), hostnameOf(options)];
  const tls = {
    ...(await nodeTls(services, names)),
    requestCert: true,
    // Enrolment has no certificate yet; every other operation checks `authorized` itself.
    rejectUnauthorized: false,
  };
  const rateLimits = policyRateLimits(services.policies);
  const failedTunnels = new RateLimiter('failed_authentication', () => rateLimits.failed_authentication);
  const { server, stop } = await createContractServer<NodeCaller>({
    name: 'node',
    document: document as ContractDocument,
    handlers: { ...nodeRoutes(services), ...nodeTaskRoutes(services) },
    authenticate: async (request, operation) =>
      operation.security?.length === 0 ? enrollingNode() : await authenticateNode(services.db, request.raw),
    db: services.db,
    log: services.log,
    metrics: options.metrics.http,
    isProven: ({ raw }) => showsOwnCertificate(raw),
    rateLimits,
    denials: services.denials,
    ...(options.onMismatch ? { onMismatch: options.onMismatch } : {}),
    fastify: {
      serverFactory: (handler) =>
        createServer({ ...tls, keepAliveTimeout: KEEP_ALIVE_MS, shouldUpgradeCallback: isUpgrade }, handler),
    },
  });
  server.server.maxConnections = services.policies.get('http.max_connections');
  server.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (isStreamPath(request.url)) void serveReplica(services, hub, options.metrics.streams, request, socket);
    else void upgradeTunnel(services, hub, failedTunnels, request, socket, head);
  });
  // A notification may be lost, so it only triggers a query earlier.
  const cutRevoked = (): void => {
    void filterRevoked(services.db, hub.certificates()).then(
      (serialNumbers) => hub.cut(serialNumbers),
      (error: unknown) => services.log.warn({ err: error }, 'revoked certificates could not be read'),
    );
  };
  const stopListening = services.listener.on(REVOKED_CHANNEL, cutRevoked);
  const stopKeepingTls = refreshNodeTls(server.server as Server, services, names);
  await server.listen({ host: options.host, port: options.nodePort });
  const port = listeningPort(server.server);
  const address = options.internalAddress ?? `${hostnameOf(options)}:${port}`;
  const registration = registerTunnels(services, hub, address);
  return {
    port,
    async stop() {
      stopListening();
      await registration.stop();
      // The server closes when its last connection has ended, and tunnels end only here.
      hub.close();
      stopKeepingTls();
      await stop();
    },
  };
}

/** The name in the certificate by which other processes identify this one. */
function hostnameOf({ host, internalAddress }: { host: string; internalAddress?: string | null }): string {
  if (internalAddress) return new URL(`https://${internalAddress}`).hostname;
  return ['0.0.0.0', '::'].includes(host) ? hostname() : host;
}

/** Any other upgrade is ignored. */
function isUpgrade({ url }: IncomingMessage): boolean {
  return isStreamPath(url) || TunnelHub.isTunnelPath(url);
}

async function upgradeTunnel(
  services: Services,
  hub: TunnelHub,
  failures: RateLimiter,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<void> {
  const ip = request.socket.remoteAddress ?? '0.0.0.0';
  if (!showsOwnCertificate(request) && failures.take(networkOf(ip)).retryAfterSeconds !== null) {
    endSocket(socket, 'HTTP/1.1 429 Too Many Requests\r\nconnection: close\r\n\r\n');
    return;
  }
  try {
    const node = await authenticateNode(services.db, request);
    hub.accept(node, request, socket, head);
  } catch (error) {
    if (error instanceof CredentialRefusedError)
      await services.denials.record({ ...denialOf(error), ip, correlationId: newId() });
    endSocket(socket, 'HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n');
  }
}

if (isEntryPoint(import.meta.filename)) {
  await runRole(async (onStop) => {
    const role = await openRoleProcess('node-api', onStop);
    const { config, services, readiness, log } = role;
    await requireFreePort(config.host, config.nodePort, 'GPUAAS_NODE_PORT');
    readiness.add(busReadiness({ kind: 'embedded', check: () => checkListener(services.listener) }));
    const metrics = createMetrics(servicesAsRole(services, 'gpuaas_tenant').database, log, domainGauges);
    await serveProbes(role, metrics, onStop);
    const hub = new TunnelHub(log, metrics.streams);
    onStop(() => hub.close());
    const nodeApi = await startNodeApi(services, hub, { ...config, metrics });
    onStop(() => nodeApi.stop());
    log.info({ port: nodeApi.port }, 'node API ready');
  });
}
