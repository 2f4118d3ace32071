import type { Command } from 'commander';
import { isRecord } from './fields.ts';
import { selectFields } from './fields.ts';
import { formatFacts, formatList } from './format-answer.ts';
import { stripControlCharacters } from './colorize.ts';

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
}

export function isPage(answer: unknown): answer is Page {
  return isRecord(answer) && Array.isArray(answer['items']);
}
