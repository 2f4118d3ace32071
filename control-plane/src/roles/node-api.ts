import type { IncomingMessage } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import type { Duplex } from 'node:stream';
import document from '@gpuaas/contracts/generated/node-openapi.json' with { type: 'json' };
import { enrollingNode, nodeOfConnection, type NodeCaller } from '../domains/fleet/node-caller.ts';
import { nodeRoutes } from '../domains/fleet/node-routes.ts';
import { REVOKED_CHANNEL, revokedAmong } from '../domains/fleet/revoke-identity.ts';
import { isStreamPath, serveReplica } from '../domains/terminal/tunnel/serve-replica.ts';
import { TunnelHub } from '../domains/terminal/tunnel/tunnel-hub.ts';
import { registerTunnels } from '../domains/terminal/tunnel/tunnel-registry.ts';
import { actingAs } from '../platform/db/scope.ts';
import type { OnMismatch } from '../platform/http/check-answers.ts';
import { KEEP_ALIVE_MS } from '../platform/http/keep-alive.ts';
import { createContractServer } from '../platform/http/contract-server.ts';
import { policyRateLimits } from '../platform/http/rate-limits.ts';
import type { ContractDocument } from '../platform/http/operation.ts';
import type { Services } from '../platform/services.ts';
import { createMetrics, type Metrics } from '../platform/telemetry/metrics.ts';
import { checkListener } from '../platform/events/embedded-bus.ts';
import { isEntryPoint, runRole } from './entry-point.ts';
import { requireFreePort } from './free-port.ts';
import { keepNodeTls, nodeTls } from './node-tls.ts';
import { busPart } from './readiness-parts.ts';
import { openRoleProcess, serveProbes } from './role-process.ts';

export interface NodeApi {
  port: number;
  stop(): Promise<void>;
}

/** The agents' port: TLS 1.3, client certificates of our own CA for everything but enrolment. */
export async function startNodeApi(
  base: Services,
  hub: TunnelHub,
  options: {
    host: string;
    nodePort: number;
    /** Names and addresses by which agents reach this port, beside this machine's own. */
    nodeHostnames?: readonly string[];
    /** Where other processes reach this port; `host:port` as it listens when left out. */
    internalAddress?: string | null;
    onMismatch?: OnMismatch;
    metrics: Pick<Metrics, 'http' | 'streams'>;
  },
): Promise<NodeApi> {
  const services = actingAs(base, 'gpuaas_node');
  const names = [...(options.nodeHostnames ?? []), hostnameOf(options)];
  const tls = {
    ...(await nodeTls(services, names)),
    requestCert: true,
    // Enrolment has no certificate yet; every other operation checks `authorized` itself.
    rejectUnauthorized: false,
  };
  const { server, stop } = await createContractServer<NodeCaller>({
    name: 'node',
    document: document as unknown as ContractDocument,
    handlers: nodeRoutes(services),
    authenticate: async (request, operation) =>
      operation.security?.length === 0 ? enrollingNode() : await nodeOfConnection(services.db, request.raw),
    db: services.db,
    log: services.log,
    metrics: options.metrics.http,
    rateLimits: policyRateLimits(services.policies),
    ...(options.onMismatch ? { onMismatch: options.onMismatch } : {}),
    fastify: {
      serverFactory: (handler) => createServer({ ...tls, keepAliveTimeout: KEEP_ALIVE_MS }, handler),
    },
  });
  server.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    if (isStreamPath(request.url)) void serveReplica(services, hub, options.metrics.streams, request, socket);
    else void upgradeTunnel(services, hub, request, socket, head);
  });
  // The notification may have been lost, so it only says when to look.
  const cutRevoked = (): void => {
    void revokedAmong(services.db, hub.certificates()).then(
      (serialNumbers) => hub.cut(serialNumbers),
      (error: unknown) => services.log.warn({ err: error }, 'revoked certificates could not be looked up'),
    );
  };
  const stopListening = services.listener.on(REVOKED_CHANNEL, cutRevoked);
  const stopKeepingTls = keepNodeTls(server.server as unknown as Server, services, names);
  await server.listen({ host: options.host, port: options.nodePort });
  const { port } = server.server.address() as AddressInfo;
  const address = options.internalAddress ?? `${hostnameOf(options)}:${port}`;
  const registration = registerTunnels(services, hub, address);
  return {
    port,
    async stop() {
      stopListening();
      await registration.stop();
      stopKeepingTls();
      await stop();
    },
  };
}

/** The name in the certificate by which other processes know this one. */
function hostnameOf({ host, internalAddress }: { host: string; internalAddress?: string | null }): string {
  if (internalAddress) return new URL(`https://${internalAddress}`).hostname;
  return ['0.0.0.0', '::'].includes(host) ? hostname() : host;
}

async function upgradeTunnel(
  services: Services,
  hub: TunnelHub,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<void> {
  try {
    const node = await nodeOfConnection(services.db, request);
    if (TunnelHub.isTunnelPath(request.url)) hub.accept(node, request, socket, head);
    else socket.end('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n');
  } catch {
    socket.end('HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n');
  }
}

if (isEntryPoint(import.meta.filename)) {
  await runRole(async (onStop) => {
    const role = await openRoleProcess('node-api', onStop);
    const { config, services, readiness, log } = role;
    await requireFreePort(config.host, config.nodePort, 'GPUAAS_NODE_PORT');
    readiness.add(busPart({ kind: 'embedded', check: () => checkListener(services.listener) }));
    const metrics = createMetrics(actingAs(services, 'gpuaas_tenant').database, log);
    await serveProbes(role, metrics, onStop);
    const hub = new TunnelHub(log, metrics.streams);
    onStop(() => hub.close());
    const nodeApi = await startNodeApi(services, hub, { ...config, metrics });
    onStop(() => nodeApi.stop());
    log.info({ port: nodeApi.port }, 'node API ready');
  });
}
