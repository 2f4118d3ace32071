import { writeSync } from 'node:fs';
import { EVENTS_FD, type KernelEvent } from './kernel-events.ts';

/**
 * Blocks until the server has taken it. So events arrive while a cell keeps the thread busy, in order, and a cell that
 * prints without end waits instead of filling the memory.
 */
export function writeEvent(event: KernelEvent): void {
  const bytes = Buffer.from(`${JSON.stringify(event)}\n`);
  for (let written = 0; written < bytes.length;) written += writeSync(EVENTS_FD, bytes, written);
}
