/** Sends requests over keep-alive connections from a separate process and measures each. */
import { Agent, request as send } from 'node:http';

export interface LoadRequest {
  url: string;
  method?: string;
  body?: string;
  headers: Record<string, string>;
  /** A new key with each request. */
  idempotencyKeys?: boolean;
  /** Expected status; 200 by default. */
  expects?: number;
}

export interface LoadResult {
  perSecond: number;
  p50: number;
  p99: number;
}

interface Job {
  request: LoadRequest;
  seconds: number;
  connections: number;
  run: string;
}

process.on('message', (job: Job) => {
  measure(job).then(
    (result) => process.send!(result),
    (error: unknown) => process.send!({ error: String(error) }),
  );
});

async function measure({ request, seconds, connections, run }: Job): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const took: number[] = [];
  const start = performance.now();
  const until = start + seconds * 1000;
  const connection = async (): Promise<void> => {
    while (performance.now() < until) {
      const began = performance.now();
      const key = request.idempotencyKeys ? { 'x-idempotency-key': `${run}:${took.length}:${began}` } : {};
      const status = await once(agent, request, { ...request.headers, ...key });
      if (status !== (request.expects ?? 200)) throw new Error(`${request.url} answered ${status}`);
      took.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
  const elapsed = (performance.now() - start) / 1000;
  agent.destroy();
  took.sort((a, b) => a - b);
  const at = (part: number): number => took[Math.min(took.length - 1, Math.floor(took.length * part))] ?? 0;
  return { perSecond: took.length / elapsed, p50: at(0.5), p99: at(0.99) };
}

function once(
  agent: Agent,
  { url, method, body }: LoadRequest,
  headers: Record<string, string>,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = send(url, { agent, method: method ?? 'GET', headers }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
      response.once('error', reject);
    });
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}
