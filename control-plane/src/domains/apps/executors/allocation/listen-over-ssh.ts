import type { Duplex } from 'node:stream';
import type { Client, TcpConnectionDetails } from 'ssh2';
import { GuestError } from './guest-error.ts';

const LOOPBACK = '127.0.0.1';
const ANSWER_MS = 15_000;

/** A port of the machine's loopback, as `ssh -R` opens it; it closes with the connection. */
export async function listenOverSsh(
  client: Client,
  port: number,
  accept: (connection: Duplex) => void,
): Promise<void> {
  client.on('tcp connection', (details: TcpConnectionDetails, take, refuse) => {
    if (details.destPort === port) accept(take());
    else refuse();
  });
  await new Promise<void>((resolve, reject) => {
    const fail = (reason: string): void => reject(new GuestError('executor_error', reason));
    const timer = setTimeout(() => fail(`The machine did not open port ${port} in time.`), ANSWER_MS);
    client.forwardIn(LOOPBACK, port, (error) => {
      clearTimeout(timer);
      if (error) fail(`The machine does not open port ${port}: ${error.message}`);
      else resolve();
    });
  });
}
