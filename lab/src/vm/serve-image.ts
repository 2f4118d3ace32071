import { once } from 'node:events';
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { listeningPort } from '@gpuaas/contracts/listening-port';

export interface ImageServer {
  port: number;
  /** By name; more may be added. */
  files: Record<string, string>;
  requests: { path: string; range: string | null }[];
  close(): void;
}

/** Serves files by name over plain HTTP with ranges, like every web server. */
export async function serveImages(files: Record<string, string>): Promise<ImageServer> {
  const requests: ImageServer['requests'] = [];
  const server = createServer((request, response) => {
    const file = files[(request.url ?? '').slice(1)];
    requests.push({ path: request.url ?? '', range: request.headers.range ?? null });
    if (!file) {
      response.writeHead(404).end();
      return;
    }
    const { size } = statSync(file);
    const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const headers = { 'content-length': size - start, 'content-type': 'application/octet-stream' };
    response.writeHead(start > 0 ? 206 : 200, headers);
    createReadStream(file, { start }).pipe(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: listeningPort(server),
    files,
    requests,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
