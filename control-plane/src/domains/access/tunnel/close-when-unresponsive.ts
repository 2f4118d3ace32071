import type { WebSocket } from 'ws';

const PING_MS = 10_000;
/** A ping is queued behind data in flight, which takes long on a slow line. */
const MISSED = 6;

/**
 * A half-open peer answers no ping and sends nothing. While we apply back-pressure, silence proves nothing.
 */
export function closeWhenUnresponsive(ws: WebSocket): () => void {
  let unanswered = 0;
  const reset = (): void => void (unanswered = 0);
  ws.on('pong', reset);
  ws.on('message', reset);
  const timer = setInterval(() => {
    if (ws.isPaused) return;
    if (unanswered >= MISSED) return ws.terminate();
    unanswered += 1;
    ws.ping();
  }, PING_MS);
  return () => clearInterval(timer);
}
