import { inspect } from 'node:util';
import type { Evaluator } from './evaluator.ts';
import type { MimeBundle } from './kernel-events.ts';

/** What is known of the name at the cursor; null if nothing is. */
export function inspectCode(evaluator: Evaluator, code: string, cursor: number): MimeBundle | null {
  const before = /[\w$.]*$/u.exec(code.slice(0, cursor))?.[0] ?? '';
  const after = /^[\w$]*/u.exec(code.slice(cursor))?.[0] ?? '';
  const expression = before + after;
  if (!/^[\p{L}_$][\w$]*(?:\.[\w$]+)*$/u.test(expression)) return null;
  const value = evaluator.peek(expression);
  if (value === undefined) return null;
  const shown =
    typeof value === 'function'
      ? String(value).slice(0, 4000)
      : inspect(value, { depth: 1, maxArrayLength: 20 });
  return { 'text/plain': `${expression}: ${kindOf(value)}\n${shown}` };
}

function kindOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return typeof value;
  const { constructor } = value;
  return constructor?.name ?? 'object';
}
