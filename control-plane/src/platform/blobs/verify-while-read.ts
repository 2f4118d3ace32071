import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';

export interface Expected {
  digest: string;
  bytes: number;
  /** Records the damage; answers the error that ends the stream. */
  onWrong(found: string): Promise<Error>;
  onVerified(): void;
}

/** The content, hashed on its way. With a wrong byte, one too few or one too many it never ends cleanly. */
export function verifyWhileRead(source: Readable, expected: Expected): Readable {
  const stream = Readable.from(verified(source, expected), { objectMode: false });
  // A reader that leaves before its first byte has not begun the iteration that would close the source.
  stream.once('close', () => source.destroy());
  return stream;
}

async function* verified(source: AsyncIterable<Buffer>, expected: Expected): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > expected.bytes) throw await expected.onWrong(`more than ${expected.bytes} bytes`);
    hash.update(chunk);
    yield chunk;
  }
  const found = `sha256:${hash.digest('hex')}`;
  if (bytes < expected.bytes) throw await expected.onWrong(`${bytes} of ${expected.bytes} bytes`);
  if (found !== expected.digest) throw await expected.onWrong(found);
  expected.onVerified();
}
