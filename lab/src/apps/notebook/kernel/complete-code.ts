import type { Evaluator } from './evaluator.ts';

const PATH = /(?:[\w$]+(?:\[\d+\])?\.)*[\w$]*$/u;
const KEYWORDS =
  'await break case class const continue else false finally for function if import instanceof let new null return switch throw true try typeof undefined while'.split(
    ' ',
  );
const MOST = 500;

export interface Completion {
  matches: string[];
  start: number;
  end: number;
}

/** Names that can stand at the cursor. Evaluates nothing that has an effect. */
export function completeCode(evaluator: Evaluator, code: string, cursor: number): Completion {
  const path = PATH.exec(code.slice(0, cursor))?.[0] ?? '';
  const dot = path.lastIndexOf('.');
  const begun = path.slice(dot + 1);
  const names =
    dot === -1
      ? [...evaluator.declaredNames(), ...namesOf(globalThis), ...KEYWORDS]
      : namesOf(evaluator.peek(path.slice(0, dot)));
  const matches = [...new Set(names)].filter((name) => name.startsWith(begun) && /^[\w$]+$/u.test(name));
  return { matches: matches.toSorted().slice(0, MOST), start: cursor - begun.length, end: cursor };
}

function namesOf(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  const names: string[] = [];
  for (let object: unknown = Object(value); typeof object === 'object' || typeof object === 'function';) {
    if (object === null) break;
    names.push(...Object.getOwnPropertyNames(object));
    object = Object.getPrototypeOf(object);
  }
  return names;
}
