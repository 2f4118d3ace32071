import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Simulator } from '../src/domains/placement/simulator/simulator.ts';

/** `npm run placement:simulate`: JSON lines on stdin, one answer per line on stdout. */
const simulator = new Simulator();

// The reader may close the pipe at any time.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exitCode = error.code === 'EPIPE' ? 0 : 1;
  process.stdin.destroy();
});

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  if (!process.stdout.write(`${simulator.answer(line)}\n`)) await once(process.stdout, 'drain');
}
