import { Readable } from 'node:stream';
import type { Client, ClientChannel } from 'ssh2';
import { GuestError } from './guest-error.ts';
import type { GuestCommand } from './guest.ts';

/** Runs one command on a separate channel of the client. */
export async function runOverSsh(client: Client, options: GuestCommand): Promise<Buffer> {
  const { command, stdin, maxBytes, deadlineMs } = options;
  return await new Promise((resolve, reject) => {
    let channel: ClientChannel | null = null;
    const settle = (error: GuestError | null, output: Buffer = Buffer.alloc(0)): void => {
      clearTimeout(timer);
      client.removeListener('close', lost);
      if (stdin instanceof Readable) stdin.destroy();
      channel?.close();
      if (error) reject(error);
      else resolve(output);
    };
    const lost = (): void => settle(new GuestError('node_lost', 'The connection to the machine was lost.'));
    const timer = setTimeout(
      () => settle(new GuestError('node_lost', `The machine did not answer within ${deadlineMs / 1000} s.`)),
      deadlineMs,
    );
    client.once('close', lost);
    const opened = (error: Error | undefined, stream: ClientChannel): void => {
      if (error) return settle(new GuestError('access_lost', error.message));
      channel = stream;
      const chunks: Buffer[] = [];
      let length = 0;
      stream.on('error', lost);
      stream.on('data', (chunk: Buffer) => {
        length += chunk.length;
        chunks.push(chunk);
        if (length > maxBytes)
          settle(new GuestError('access_lost', `The machine printed more than ${maxBytes} bytes.`));
      });
      stream.stderr.resume();
      stream.on('close', () => settle(null, Buffer.concat(chunks)));
      feed(stream, stdin, (reason) => settle(new GuestError('executor_error', reason)));
    };
    try {
      client.exec(command, opened);
    } catch {
      lost();
    }
  });
}

/** A guest that stops to read says why in its answer, so a broken pipe is no failure. */
function feed(
  channel: ClientChannel,
  stdin: Buffer | Readable | undefined,
  fail: (reason: string) => void,
): void {
  if (!(stdin instanceof Readable)) {
    channel.end(stdin ?? '');
    return;
  }
  stdin.on('error', (error: Error) => fail(`The content could not be read: ${error.message}`));
  stdin.pipe(channel);
}
