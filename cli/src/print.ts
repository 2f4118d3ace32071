import type { Command } from 'commander';
import { isRecord } from './fields.ts';
import { requireFields, selectFields } from './fields.ts';
import { formatFacts, formatList } from './format-answer.ts';
import { colorize, stripControlCharacters } from './colorize.ts';

export interface Output {
  json: boolean;
  /** Only these of the answer, whether for programs or for people. */
  fields?: string[] | undefined;
}

/** Output options of a command. */
export function outputOptions(command: Command): Output {
  const { json, fields } = command.optsWithGlobals<{ json?: boolean; fields?: string }>();
  return { json: json ?? false, fields: fields?.split(',') };
}

/** JSON for programs, text for people. */
export function print({ json, fields }: Output, answer: unknown, words: () => string): void {
  if (fields) requireFields(answer, fields);
  const shown = fields ? selectFields(answer, fields) : answer;
  process.stdout.write(
    `${json ? JSON.stringify(shown, null, 2) : stripControlCharacters(inWords(shown, fields, words))}\n`,
  );
}

function inWords(shown: unknown, fields: string[] | undefined, words: () => string): string {
  if (!fields) return words();
  return isPage(shown) ? formatList(shown.items, fields) : formatFacts(shown);
}

export interface Page {
  items: object[];
  next_page?: string | null;
}

/** Says on standard error that a list goes on. */
export function warnIfCut({ items, next_page: next }: Page): void {
  if (next)
    console.error(
      colorize('yellow', `Only the first ${items.length} are shown; --all shows all.`, process.stderr),
    );
}

export function isPage(answer: unknown): answer is Page {
  return isRecord(answer) && Array.isArray(answer['items']);
}
