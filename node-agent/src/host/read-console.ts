import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { GuestUnreachableError } from './host.ts';

const SHOWN_BYTES = 1024 * 1024;

/** The end of what a machine wrote to its serial console, which its hypervisor keeps in a file. */
export async function readConsole(file: string): Promise<Readable> {
  const size = await stat(file).then(
    (found) => found.size,
    () => null,
  );
  if (size === null) throw new GuestUnreachableError('there is no console of this allocation');
  // To the size of now: a guest that writes on and on must not keep the reader for ever.
  return createReadStream(file, { start: Math.max(0, size - SHOWN_BYTES), end: Math.max(0, size - 1) });
}
