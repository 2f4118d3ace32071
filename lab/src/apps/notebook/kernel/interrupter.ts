import { Session } from 'node:inspector';
import { Socket } from 'node:net';
import { parentPort } from 'node:worker_threads';
import { INTERRUPT_FD } from './kernel-events.ts';

/**
 * Runs in a separate thread, because the main thread may be in a loop without end: each byte from the server terminates
 * what the main thread executes, then says so there.
 */
export function runInterrupter(): void {
  const session = new Session();
  session.connectToMainThread();
  const requests = new Socket({ fd: INTERRUPT_FD, readable: true, writable: false });
  requests.on('data', () => {
    session.post('Runtime.terminateExecution', () => parentPort?.postMessage('interrupted'));
  });
  // The server is gone.
  requests.on('close', () => process.kill(process.pid, 'SIGKILL'));
  requests.on('error', () => requests.destroy());
}
