import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type ClientHttp2Session } from 'node:http2';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { TLSSocket } from 'node:tls';
import { signCanonical } from '@gpuaas/contracts/signing';
import type { TaskKind, TaskParams } from '@gpuaas/contracts/tasks';
import { TUNNEL_PATH } from '@gpuaas/contracts/tunnel';
import { createWebSocketStream, WebSocketServer } from 'ws';
import type {
  Heartbeat,
  HeartbeatResponse,
  Progress,
  SignedTask,
  TaskOutcome,
  TaskRefusalReport,
} from '../control-plane.ts';
import { toRealSocket } from '@gpuaas/contracts/real-socket';
import { listeningPort } from '@gpuaas/contracts/listening-port';
import { createTestAuthority, type TestAuthority } from './test-authority.ts';

/** The node API over real mTLS, by a fake platform that records every call. */
export interface FakeControlPlane {
  url: string;
  nodeId: string;
  authority: TestAuthority;
  token(): string;
  lifetimeMs: number;
  heartbeats: Heartbeat[];
  /** Every stage separately, also if several were reported together. */
  progress: (Omit<Progress, 'earlier'> & { task_id: string })[];
  outcomes: (TaskOutcome & { task_id: string })[];
  refusals: TaskRefusalReport[];
  /** Goes into every answer to a heartbeat. */
  heartbeatAnswer: Partial<HeartbeatResponse>;
  /** Bundle that enrolment and renewal return; at first the CA itself. */
  caBundlePem: string;
  enrolments: number;
  renewals: number;
  /** The status for the next calls of a path, before the real answer. */
  refuse: { path: RegExp; status: number; code: string; times: number }[];
  queue<K extends TaskKind>(kind: K, params: TaskParams[K], change?: Partial<SignedTask['task']>): SignedTask;
  queueSigned(signed: SignedTask): void;
  gateway(): Promise<ClientHttp2Session>;
  close(): Promise<void>;
}

/** On a given port it replaces an earlier one, with its own CA and records. */
export async function startFakeControlPlane(
  port = 0,
  given: TestAuthority | null = null,
): Promise<FakeControlPlane> {
  const authority = given ?? (await createTestAuthority());
  const queued: SignedTask[] = [];
  const waiting: (() => void)[] = [];
  const gateways: ClientHttp2Session[] = [];

  const server = createServer({
    cert: authority.server.certPem,
    key: authority.server.keyPem,
    ca: authority.caPem,
    requestCert: true,
    rejectUnauthorized: false,
    minVersion: 'TLSv1.3',
  });
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });

  const fake: FakeControlPlane = {
    url: '',
    nodeId: randomUUID(),
    authority,
    lifetimeMs: 3_600_000,
    heartbeats: [],
    progress: [],
    outcomes: [],
    refusals: [],
    heartbeatAnswer: {},
    caBundlePem: authority.caPem,
    enrolments: 0,
    renewals: 0,
    refuse: [],
    token: () => `gpe_${'s'.repeat(32)}.${authority.fingerprint}`,
    queue(kind, params, change = {}) {
      const task: SignedTask['task'] = {
        task_id: randomUUID(),
        kind,
        node_id: fake.nodeId,
        params: { ...params },
        nonce: randomUUID(),
        epoch: 1,
        issued_at: new Date().toISOString(),
        expires_at: new Date(Date.now() + 600_000).toISOString(),
        correlation_id: randomUUID(),
        ...change,
      };
      const signed = { task, signature: signCanonical(task, authority.signing.privateKey) };
      fake.queueSigned(signed);
      return signed;
    },
    queueSigned(signed) {
      queued.push(signed);
      waiting.splice(0).forEach((wake) => wake());
    },
    async gateway() {
      while (gateways.length === 0) await once(sockets, 'gateway');
      const latest = gateways.at(-1);
      if (!latest) throw new Error('no tunnel');
      return latest;
    },
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  sockets.on('connection', async (socket) => {
    const connection = await toRealSocket(createWebSocketStream(socket));
    const session = connect('http://tunnel', { createConnection: () => connection });
    session.on('error', () => undefined);
    gateways.push(session);
    sockets.emit('gateway');
  });
  server.on('upgrade', (request, socket, head) => {
    const welcome = request.url === TUNNEL_PATH && socket instanceof TLSSocket && socket.authorized;
    if (!welcome) {
      socket.destroy();
      return;
    }
    // The upgrade response and the first HTTP/2 bytes leave together, as they may on a busy gateway.
    socket.cork();
    sockets.handleUpgrade(request, socket, head, (client) => sockets.emit('connection', client, request));
    setTimeout(() => socket.uncork(), 50);
  });
  server.on('request', (request, response) => {
    handle(request, response).catch(() => response.destroy());
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body: Record<string, unknown> = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    const refusal = fake.refuse.find((rule) => rule.times > 0 && rule.path.test(path));
    if (refusal) {
      refusal.times -= 1;
      return answer(response, refusal.status, {
        code: refusal.code,
        title: 'refused',
        status: refusal.status,
      });
    }
    if (path !== '/node/v1/enroll' && !(request.socket instanceof TLSSocket && request.socket.authorized))
      return answer(response, 401, {});
    const [, taskId, call] = /^\/node\/v1\/tasks\/([0-9a-f-]{36})\/(progress|complete)$/.exec(path) ?? [];
    if (path === '/node/v1/enroll' || path === '/node/v1/renew') return await issue(path, body, response);
    if (path === '/node/v1/heartbeat') fake.heartbeats.push(body as Heartbeat);
    if (path === '/node/v1/heartbeat')
      return answer(response, 200, { server_time: new Date().toISOString(), ...fake.heartbeatAnswer });
    if (path === '/node/v1/refusals') {
      fake.refusals.push(body as TaskRefusalReport);
      return answer(response, 204, null);
    }
    if (path === '/node/v1/tasks/claim') return await claim(response);
    if (taskId && call === 'progress') {
      const { earlier = [], ...current } = body as Progress;
      const steps = [...earlier.map((step) => ({ epoch: current.epoch, ...step })), current];
      fake.progress.push(...steps.map((step) => ({ task_id: taskId, ...step })));
    }
    if (taskId && call === 'complete') fake.outcomes.push({ task_id: taskId, ...(body as TaskOutcome) });
    answer(response, taskId ? 204 : 404, null);
  }

  async function issue(path: string, body: Record<string, unknown>, response: ServerResponse): Promise<void> {
    if (path === '/node/v1/renew') fake.renewals += 1;
    else if (body['token'] === fake.token()) fake.enrolments += 1;
    else return answer(response, 401, { code: 'enrolment_token_invalid' });
    answer(response, 201, {
      node_id: fake.nodeId,
      certificate_pem: await authority.issueNode(String(body['csr_pem']), fake.nodeId, fake.lifetimeMs),
      ca_bundle_pem: fake.caBundlePem,
      signing_public_key_pem: authority.signing.publicKeyPem,
    });
  }

  async function claim(response: ServerResponse): Promise<void> {
    if (queued.length === 0) {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        setTimeout(resolve, 2_000);
      });
    }
    if (response.destroyed) return;
    const next = queued.shift();
    answer(response, next ? 200 : 204, next ?? null);
  }

  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  fake.url = `https://127.0.0.1:${listeningPort(server)}`;
  return fake;
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(body === null ? undefined : JSON.stringify(body));
}
