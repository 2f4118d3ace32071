import { Agent } from 'node:https';
import type { components, operations } from '@gpuaas/contracts/generated/node-openapi.ts';
import { isRecord } from '@gpuaas/contracts/is-record';
import { isSuccess, postJson, ServerRefusedError, type JsonResponse } from './http-json.ts';
import type { NodeIdentity } from './identity/enrol.ts';
import type { Identity } from './identity/identity.ts';
import type { Link } from './link.ts';
import type { PlatformClock } from './platform-clock.ts';

export type SignedTask = components['schemas']['SignedTask'];
export type TaskOutcome = components['schemas']['TaskOutcome'];
export type TaskRefusalReport = components['schemas']['TaskRefusal'];
export type Progress = operations['reportTaskProgress']['requestBody']['content']['application/json'];
export type Heartbeat = operations['heartbeat']['requestBody']['content']['application/json'];
export type HeartbeatResponse = operations['heartbeat']['responses']['200']['content']['application/json'];

export interface TaskCall {
  task_id: string;
  correlation_id: string;
}

/** The calls of /node/v1 over mTLS. */
export interface ControlPlane {
  readonly identity: Identity;
  claimTask(waitSeconds: number, signal: AbortSignal): Promise<SignedTask | null>;
  reportProgress(task: TaskCall, progress: Progress): Promise<void>;
  completeTask(task: TaskCall, outcome: TaskOutcome): Promise<void>;
  reportRefusal(refusal: TaskRefusalReport): Promise<void>;
  heartbeat(body: Heartbeat): Promise<HeartbeatResponse>;
  renew(csrPem: string): Promise<NodeIdentity>;
  useIdentity(identity: Identity): void;
  close(): void;
}

export interface ControlPlaneOptions {
  server: URL;
  identity: Identity;
  clock: PlatformClock;
  link: Link;
  /** Called after every call: with null, or with the error. */
  onCall: (error: unknown) => void;
}

const CALL_MS = 10_000;
/** On top of the server's own waiting time. */
const CLAIM_GRACE_MS = 10_000;

export function createControlPlane(options: ControlPlaneOptions): ControlPlane {
  const { server, clock, link, onCall } = options;
  let { identity } = options;
  let agent = mutualTls(identity);

  async function post(path: string, body: unknown, extra: PostExtra = {}): Promise<JsonResponse> {
    try {
      const signal = extra.signal ? AbortSignal.any([extra.signal, link.signal()]) : link.signal();
      const call = { url: new URL(path, server), body, agent, timeoutMs: CALL_MS, ...extra, signal };
      const answer = await postJson(call);
      clock.noteDate(answer.date);
      if (!isSuccess(answer)) throw new ServerRefusedError(path, answer);
      onCall(null);
      return answer;
    } catch (error) {
      if (!extra.signal?.aborted) onCall(error);
      throw error;
    }
  }

  return {
    get identity() {
      return identity;
    },
    async claimTask(waitSeconds, signal) {
      const timeoutMs = waitSeconds * 1000 + CLAIM_GRACE_MS;
      const answer = await post('/node/v1/tasks/claim', { wait_seconds: waitSeconds }, { timeoutMs, signal });
      return answer.status === 204 ? null : signedTask(answer.body);
    },
    async reportProgress(task, progress) {
      await post(`/node/v1/tasks/${task.task_id}/progress`, progress, { correlationId: task.correlation_id });
    },
    async completeTask(task, outcome) {
      await post(`/node/v1/tasks/${task.task_id}/complete`, outcome, { correlationId: task.correlation_id });
    },
    async reportRefusal(refusal) {
      await post('/node/v1/refusals', refusal);
    },
    async heartbeat(body) {
      const sentAt = clock.localNow();
      const answer = (await post('/node/v1/heartbeat', body)).body as HeartbeatResponse;
      clock.noteTime(answer.server_time, sentAt);
      return answer;
    },
    async renew(csrPem) {
      return (await post('/node/v1/renew', { csr_pem: csrPem })).body as NodeIdentity;
    },
    useIdentity(next) {
      const old = agent;
      identity = next;
      agent = mutualTls(next);
      // Calls in flight finish on the old connections first.
      setTimeout(() => old.destroy(), 60_000).unref();
    },
    close() {
      agent.destroy();
    },
  };
}

interface PostExtra {
  timeoutMs?: number;
  signal?: AbortSignal;
  correlationId?: string;
}

function mutualTls(identity: Identity): Agent {
  return new Agent({
    keepAlive: true,
    maxSockets: 16,
    ca: identity.ca_bundle_pem,
    cert: identity.certificate_pem,
    key: identity.private_key_pem,
    minVersion: 'TLSv1.3',
  });
}

function signedTask(body: unknown): SignedTask {
  if (!isSignedTask(body)) throw new Error('the claim was not answered with a signed task');
  return body;
}

/** Shape only; the signature and the task are checked before it runs. */
function isSignedTask(body: unknown): body is SignedTask {
  return isRecord(body) && typeof body['signature'] === 'string' && isRecord(body['task']);
}
