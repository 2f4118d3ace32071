import { WebSocketServer } from 'ws';
import { AppRefusal } from '../web/app-refusal.ts';
import { EventStream } from '../web/event-stream.ts';
import { sendPageFile } from '../web/page-files.ts';
import { isSameOrigin } from '../web/same-origin.ts';
import { refuseUpgrade, sendJson, serveApp } from '../web/serve-app.ts';
import { viewerOf } from './viewer.ts';

const DEFAULT_PORT = 8000;
const MAX_MESSAGE_BYTES = 65_536;
const MAX_STREAMS = 200;
const TICK_MS = 1000;

const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });
const streams = new Set<EventStream>();
const startedAt = Date.now();

sockets.on('connection', (socket, request) => {
  const { user } = viewerOf(request);
  socket.on('error', () => socket.terminate());
  socket.on('message', (data, binary) => {
    if (binary || !Buffer.isBuffer(data)) return socket.send(data, { binary });
    socket.send(`${user ?? 'somebody'}: ${data.toString('utf8')}`);
  });
});

const ticking = setInterval(() => {
  const state = JSON.stringify({
    seconds: Math.round((Date.now() - startedAt) / 1000),
    watching: streams.size,
    chatting: sockets.clients.size,
  });
  for (const stream of streams) void stream.send(state);
}, TICK_MS);

await serveApp(
  {
    name: 'hello-web',
    answer(request, response, { pathname }) {
      if (request.method !== 'GET' && request.method !== 'HEAD')
        throw new AppRefusal(405, 'method_not_allowed', 'This app only answers GET.');
      if (pathname.endsWith('/health')) return sendJson(response, 200, { status: 'ok' });
      if (pathname.endsWith('/viewer')) return sendJson(response, 200, viewerOf(request));
      if (pathname.endsWith('/events')) {
        if (streams.size >= MAX_STREAMS)
          throw new AppRefusal(503, 'too_many_streams', 'Too many pages are open.');
        const stream = new EventStream(response);
        streams.add(stream);
        stream.signal.addEventListener('abort', () => streams.delete(stream));
        return;
      }
      const name = pathname.slice(pathname.lastIndexOf('/') + 1) || 'index.html';
      if (!sendPageFile(response, name)) throw new AppRefusal(404, 'not_found', 'There is no such page.');
    },
    upgrade(request, socket, head, { pathname }) {
      if (!pathname.endsWith('/socket')) return refuseUpgrade(socket, 404, 'Not Found');
      if (!isSameOrigin(request)) return refuseUpgrade(socket, 403, 'Forbidden');
      sockets.handleUpgrade(request, socket, head, (client) => sockets.emit('connection', client, request));
    },
    describe: ({ code, message }) => ({ error: { code, message } }),
    stop() {
      clearInterval(ticking);
      for (const stream of streams) stream.end();
      for (const client of sockets.clients) client.close(1001, 'the app stops');
    },
  },
  DEFAULT_PORT,
);
