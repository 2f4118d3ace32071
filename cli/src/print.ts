import type { Command } from 'commander';
import { select } from './fields.ts';
import { factsOf, listingOf } from './describe-answer.ts';
import { harmless } from './paint.ts';

export interface Output {
  json: boolean;
  /** Only these of the answer, whether for programs or for people. */
  fields?: string[] | undefined;
}

/** How a command is asked to answer. */
export function outputOf(command: Command): Output {
  const { json, fields } = command.optsWithGlobals<{ json?: boolean; fields?: string }>();
  return { json: json ?? false, fields: fields?.split(',') };
}

/** JSON for programs, words for people. */
export function print({ json, fields }: Output, answer: unknown, words: () => string): void {
  const shown = fields ? select(answer, fields) : answer;
  process.stdout.write(
    `${json ? JSON.stringify(shown, null, 2) : harmless(inWords(shown, fields, words))}\n`,
  );
}

function inWords(shown: unknown, fields: string[] | undefined, words: () => string): string {
  if (!fields) return words();
  return isPage(shown) ? listingOf(shown.items, fields) : factsOf(shown);
}

export interface Page {
  items: object[];
}

export function isPage(answer: unknown): answer is Page {
  return typeof answer === 'object' && answer !== null && Array.isArray((answer as Partial<Page>).items);
}
