import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { completeCode } from './complete-code.ts';
import { Evaluator, type Outcome } from './evaluator.ts';
import { formatError, formatValue, INTERRUPTED } from './format-value.ts';
import { inspectCode } from './inspect-code.ts';
import { judgeCode } from './judge-code.ts';
import type { KernelRequest, ThrownError } from './kernel-events.ts';
import { rewriteImports } from './rewrite-imports.ts';
import { installUserGlobals } from './user-globals.ts';
import { writeEvent } from './write-event.ts';

/** The process of one kernel. The main thread belongs to the cells; requests come over the IPC channel. */
export function runKernel(): void {
  const evaluator = new Evaluator();
  const worker = new Worker(fileURLToPath(import.meta.url), { argv: ['interrupter'] });
  worker.on('message', () => evaluator.interrupt());
  worker.unref();
  installUserGlobals();
  // A promise or a timer of an earlier cell must not end the kernel.
  process.on('uncaughtException', (error) => void process.stderr.write(`${explain(error)}\n`));
  process.on('unhandledRejection', (error) => void process.stderr.write(`${explain(error)}\n`));
  process.on('message', (request: KernelRequest) => void answer(evaluator, request));
  process.on('disconnect', () => process.exit(0));
  worker.once('online', () => writeEvent({ type: 'ready' }));
}

async function answer(evaluator: Evaluator, request: KernelRequest): Promise<void> {
  const { id, code } = request;
  if (request.kind === 'execute') {
    const outcome = await evaluator.evaluate(`${rewriteImports(code)}\n//# sourceURL=cell[${request.count}]`);
    writeEvent({ type: 'done', id, error: await finish(outcome, request.silent) });
  } else if (request.kind === 'complete') {
    writeEvent({ type: 'completed', id, ...completeCode(evaluator, code, request.cursor) });
  } else if (request.kind === 'inspect') {
    writeEvent({ type: 'inspected', id, data: inspectCode(evaluator, code, request.cursor) });
  } else writeEvent({ type: 'judged', id, status: judgeCode(code) });
}

/** Shows the value of a cell; returns what it threw. */
async function finish(outcome: Outcome, silent: boolean): Promise<ThrownError | null> {
  if ('interrupted' in outcome) return INTERRUPTED;
  if ('thrown' in outcome) return formatError(outcome.thrown);
  if (outcome.value === undefined || silent) return null;
  try {
    writeEvent({ type: 'result', data: await formatValue(outcome.value) });
    return null;
  } catch (error) {
    return formatError(error);
  }
}

function explain(error: unknown): string {
  return formatError(error).traceback.join('\n');
}
