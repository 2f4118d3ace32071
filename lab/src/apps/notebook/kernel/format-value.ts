import { inspect } from 'node:util';
import { isRecord } from '@gpuaas/contracts/is-record';
import { textOf } from '../../text-of.ts';
import type { MimeBundle, ThrownError } from './kernel-events.ts';

/** An object may have a function under this symbol that returns its own formats, as in Deno's kernel. */
export const DISPLAY = Symbol.for('Jupyter.display');

export async function formatValue(value: unknown): Promise<MimeBundle> {
  const plain = { 'text/plain': inspect(value, { depth: 4, maxArrayLength: 200, maxStringLength: 20_000 }) };
  const own = typeof value === 'object' && value !== null ? Reflect.get(value, DISPLAY) : undefined;
  if (typeof own !== 'function') return plain;
  const bundle: unknown = await Reflect.apply(own, value, []);
  return isRecord(bundle) ? { ...plain, ...bundle } : plain;
}

/** The stack up to the last frame of a cell; below are frames of the kernel. */
export function formatError(error: unknown): ThrownError {
  if (!(error instanceof Error))
    return { ename: 'Thrown', evalue: inspect(error), traceback: [`Thrown: ${inspect(error)}`] };
  const ename = textOf(error.name);
  const evalue = textOf(error.message);
  const lines = (textOf(error.stack) || `${ename}: ${evalue}`).split('\n');
  const last = lines.findLastIndex((line) => line.includes('cell['));
  const first = lines.findIndex((line) => /^\s+at /.test(line));
  const frames = lines.slice(0, last !== -1 ? last + 1 : first === -1 ? lines.length : first);
  const cause = error.cause === undefined ? [] : [`Caused by: ${inspect(error.cause)}`];
  return { ename, evalue, traceback: [...frames, ...cause] };
}

export const INTERRUPTED: ThrownError = {
  ename: 'Interrupted',
  evalue: 'The cell was interrupted',
  traceback: ['Interrupted: The cell was interrupted'],
};
