import type { WebSocket } from 'ws';

const PING_MS = 10_000;
/** A ping waits its turn behind what is on its way, which on a slow line takes long. */
const MISSED = 6;

/** A half-open peer answers no ping and says nothing. While we ourselves hold it back, silence proves nothing. */
export function pingUntilDead(ws: WebSocket): () => void {
  let unanswered = 0;
  const heard = (): void => void (unanswered = 0);
  ws.on('pong', heard);
  ws.on('message', heard);
  const timer = setInterval(() => {
    if (ws.isPaused) return;
    if (unanswered >= MISSED) return ws.terminate();
    unanswered += 1;
    ws.ping();
  }, PING_MS);
  return () => clearInterval(timer);
}
