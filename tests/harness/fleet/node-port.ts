import { request } from 'node:https';
import { connect } from 'node:tls';
import { issueNodeIdentity } from '@gpuaas/control-plane/domains/fleet/identity/issue-identity';
import { TunnelHub } from '@gpuaas/control-plane/domains/access/tunnel/tunnel-hub';
import { EC_P256, exportPrivateKeyPem } from '@gpuaas/control-plane/platform/keys/certificates';
import { x509 } from '@gpuaas/control-plane/platform/keys/x509';
import type { PlatformServices } from '@gpuaas/control-plane/roles/domain-answers';
import { createMetrics } from '@gpuaas/control-plane/platform/telemetry/metrics';
import { startNodeApi } from '@gpuaas/control-plane/roles/node-api';

export interface NodePort {
  port: number;
  hub: TunnelHub;
  stop(): Promise<void>;
}

/** The agents' port with its real TLS. */
export async function startNodePort(
  services: PlatformServices,
  options: { nodeHostnames?: readonly string[] } = {},
): Promise<NodePort> {
  const metrics = createMetrics(services.database, services.log, []);
  const hub = new TunnelHub(services.log, metrics.streams);
  const node = await startNodeApi(services, hub, {
    host: '127.0.0.1',
    nodePort: 0,
    ...options,
    metrics,
  });
  return {
    port: node.port,
    hub,
    async stop() {
      hub.close();
      await node.stop();
      metrics.stop();
    },
  };
}

export interface TestIdentity {
  key: string;
  cert: string;
}

export async function newKeyPair() {
  const keys = await crypto.subtle.generateKey(EC_P256, true, ['sign', 'verify']);
  return { keys, key: await exportPrivateKeyPem(keys.privateKey) };
}

export async function newCertificateRequest(): Promise<{ key: string; csrPem: string }> {
  const { keys, key } = await newKeyPair();
  const csr = await x509.Pkcs10CertificateRequestGenerator.create({
    name: 'CN=ignored',
    keys,
    signingAlgorithm: EC_P256,
  });
  return { key, csrPem: csr.toString('pem') };
}

/** A certificate as the host would have got it by enrolling. */
export async function identityFor(services: PlatformServices, nodeId: string): Promise<TestIdentity> {
  const { key, csrPem } = await newCertificateRequest();
  const issued = await services.db
    .transaction()
    .execute((tx) => issueNodeIdentity(services, tx, nodeId, csrPem));
  return { key, cert: issued.certificate_pem };
}

/** A certificate that no authority of ours signed. */
export async function newSelfSigned(): Promise<TestIdentity> {
  const { keys, key } = await newKeyPair();
  const day = 86_400_000;
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=stranger',
    notBefore: new Date(Date.now() - day),
    notAfter: new Date(Date.now() + day),
    keys,
    signingAlgorithm: EC_P256,
  });
  return { key, cert: certificate.toString('pem') };
}

export interface NodeAnswer {
  status: number;
  body: Record<string, unknown>;
}

/** A call of an agent, on a separate connection, trusting one bundle. */
export function callNodePort(
  port: number,
  caBundlePem: string,
  identity: TestIdentity | null,
  path: string,
  body: object,
): Promise<NodeAnswer> {
  return new Promise((resolve, reject) => {
    const call = request(
      {
        host: '127.0.0.1',
        port,
        path: `/node/v1${path}`,
        method: 'POST',
        ca: caBundlePem,
        ...identity,
        servername: 'localhost',
        agent: false,
        headers: { 'content-type': 'application/json' },
      },
      (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('error', reject);
        answer.on('end', () => {
          const text = Buffer.concat(parts).toString('utf8');
          const parsed = text ? (JSON.parse(text) as Record<string, unknown>) : {};
          resolve({ status: answer.statusCode ?? 0, body: parsed });
        });
      },
    );
    call.on('error', reject);
    call.end(JSON.stringify(body));
  });
}

/** The fingerprint of the CA of the port's certificate for new connections. */
export function authorityOfPort(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
    socket.on('error', reject);
    socket.on('secureConnect', () => {
      const issuer = socket.getPeerX509Certificate()?.issuerCertificate;
      socket.destroy();
      if (issuer) resolve(issuer.fingerprint256.replaceAll(':', '').toLowerCase());
      else reject(new Error('the port shows no CA'));
    });
  });
}

/** Whether a client that dials the port by this name trusts it, and if not, why. */
export function trustsPort(port: number, name: string, caBundle: string): Promise<true | string> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, servername: name, ca: caBundle });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.on('secureConnect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

export function heartbeatBody(change: object = {}): object {
  return {
    boot_id: 'b',
    agent_version: '0.1.0',
    agent_time: new Date().toISOString(),
    leases: [],
    vms: [],
    ...change,
  };
}
