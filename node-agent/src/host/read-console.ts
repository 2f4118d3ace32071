import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { GuestUnreachableError } from './host.ts';

const SHOWN_BYTES = 1024 * 1024;

/** The last part of a machine's serial console, which its hypervisor stores in a file. */
export async function readConsole(file: string): Promise<Readable> {
  const size = await stat(file).then(
    (found) => found.size,
    () => null,
  );
  if (size === null) throw new GuestUnreachableError('there is no console of this allocation');
  // Up to the current size: a guest that keeps writing must not hold the reader indefinitely.
  return createReadStream(file, { start: Math.max(0, size - SHOWN_BYTES), end: Math.max(0, size - 1) });
}
