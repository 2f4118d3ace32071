/** A web app as a guest runs it, well and badly behaved by path. `node guest-web-app.mjs <port>`; Node alone. */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';

let aborted = 0;
let served = 0;

const answers = {
  '/sse'(request, response) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let count = 0;
    const timer = setInterval(() => response.write(`data: ${++count}\n\n`), 50);
    response.on('close', () => {
      clearInterval(timer);
      aborted += 1;
    });
  },
  '/aborted': (_request, response) => response.end(String(aborted)),
  /** Connections that the gateway holds here. */
  '/connections': (_request, response) =>
    server.getConnections((_error, count) => response.end(String(count))),
  '/served': (_request, response) => response.end(String(served)),
  '/trailers'(_request, response) {
    response.writeHead(200, { trailer: 'x-sum' });
    response.write('a');
    response.addTrailers({ 'x-sum': '42' });
    response.end();
  },
  '/cookies'(_request, response) {
    response.setHeader('set-cookie', [
      'ok=1; Domain=localhost; Path=/',
      '__Host-gpuaas_app=evil; Path=/; Secure',
      'gpuaas_sign_in=evil',
    ]);
    response.setHeader('clear-site-data', '"cookies"');
    response.setHeader('strict-transport-security', 'max-age=1');
    response.end('set');
  },
  '/early'(_request, response) {
    response.writeEarlyHints({ link: '</a.css>; rel=preload' });
    response.end('late');
  },
  '/304'(_request, response) {
    response.writeHead(304, { etag: '"x"' });
    response.end();
  },
  '/cut'(request, response) {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('part');
    setTimeout(() => request.socket.destroy(), 50);
  },
  '/cut-chunks'(request, response) {
    response.writeHead(200);
    response.write('part');
    setTimeout(() => request.socket.destroy(), 50);
  },
  '/garbage': (request) => request.socket.end('this is no HTTP\r\n\r\n'),
  '/huge-header': (request) => request.socket.end(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(200_000)}\r\n\r\n`),
  '/two-lengths': (request) =>
    request.socket.end('HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'),
  '/unasked-upgrade': (request) =>
    request.socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
  '/hang-up': (request) => request.socket.destroy(),
  '/poison'(request, response) {
    response.end('fine');
    setTimeout(() => request.socket.write('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nPOISON'), 30);
  },
  '/sw.js'(_request, response) {
    response.setHeader('content-type', 'text/javascript');
    // Keeps tickets that pass by, and shows its own page instead.
    response.end(`
      self.addEventListener('install', () => self.skipWaiting());
      self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
      self.addEventListener('fetch', (event) => {
        if (event.request.url.includes('ticket=')) event.respondWith(
          new Response('<title>caught</title>' + event.request.url, { headers: { 'content-type': 'text/html' } }));
      });`);
  },
  '/page'(_request, response) {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>page of the app</title><h1>page of the app</h1>');
  },
  '/big'(request, response) {
    const { searchParams } = new URL(request.url, 'http://guest');
    let left = Number(searchParams.get('bytes') ?? 10_000_000);
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': left });
    const chunk = Buffer.alloc(65_536);
    const more = () => {
      while (left > 0) {
        const part = chunk.subarray(0, Math.min(left, chunk.length));
        left -= part.length;
        if (!response.write(part)) return response.once('drain', more);
      }
      response.end();
    };
    more();
  },
};

const server = createServer((request, response) => {
  served += 1;
  request.on('error', () => undefined);
  const answer = answers[request.url.split('?')[0]];
  if (answer) return answer(request, response);
  let bytes = 0;
  request.on('data', (chunk) => (bytes += chunk.length));
  request.on('end', () => {
    response.setHeader('content-type', 'application/json');
    const { method, url, headers, rawTrailers } = request;
    response.end(JSON.stringify({ method, url, bytes, headers, rawTrailers }));
  });
});

/** Echoes whole small text frames; enough of RFC 6455 for a test. */
server.on('upgrade', (request, socket) => {
  socket.on('error', () => socket.destroy());
  // Sockets of a server stay half open otherwise.
  socket.on('end', () => socket.end());
  if (request.url === '/no-websocket')
    return socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 4\r\n\r\nnope');
  const accept = createHash('sha1')
    .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
  );
  let pending = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= 6) {
      const length = pending[1] & 0x7f;
      if (pending.length < 6 + length) return;
      const mask = pending.subarray(2, 6);
      const text = Buffer.from(pending.subarray(6, 6 + length)).map((byte, index) => byte ^ mask[index % 4]);
      if ((pending[0] & 0x0f) === 8) return socket.end();
      socket.write(Buffer.concat([Buffer.of(0x81, length), text]));
      pending = pending.subarray(6 + length);
    }
  });
});

server.listen(Number(process.argv.at(-1)), '127.0.0.1');
