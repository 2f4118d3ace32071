import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Metrics } from '../../telemetry/metrics.ts';
import { metricsAccess } from './metrics-access.ts';
import { Problem } from '../problem.ts';
import { guardSockets } from '../wire/guard-sockets.ts';
import type { Readiness } from './readiness.ts';

export interface Probes {
  stop(): Promise<void>;
}

/** `/healthz`, `/readyz` and `/metrics` for a process that has no public API. */
export async function startProbes(options: {
  host: string;
  port: number;
  readiness: Readiness;
  metrics: Metrics;
}): Promise<Probes> {
  const { readiness, metrics } = options;
  const mayScrape = metricsAccess(process.env['GPUAAS_METRICS_TOKEN']);
  const answers: Record<string, (request: IncomingMessage, response: ServerResponse) => Promise<void>> = {
    '/healthz': async (_request, response) => send(response, 200, { status: 'ok' }),
    '/readyz': async (_request, response) => {
      const report = await readiness.report();
      send(response, report.ready ? 200 : 503, report);
    },
    '/metrics': async (request, response) => {
      mayScrape({ headers: request.headers, ip: request.socket.remoteAddress ?? '' });
      const text = await metrics.render();
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text);
    },
  };
  const server = createServer((request, response) => {
    const answer = answers[request.url?.split('?')[0] ?? ''];
    if (!answer) return send(response, 404, { status: 'not found' });
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return send(response.setHeader('allow', 'GET, HEAD'), 405, { status: 'method not allowed' });
    answer(request, response).catch((error: unknown) =>
      send(response, error instanceof Problem ? error.status : 503, { status: 'refused' }),
    );
  });
  guardSockets(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  return {
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
