import { expect, it } from 'vitest';
import { filesIn } from './source-files.ts';

/** Habits of speech that say less than the trade's words (CONTRIBUTING, "How we write"). */
const HABITS = /\b(whoever|at once|told|anew|for ever|by itself|wait(?:s|ing)? in line|a look at|papers)\b/i;
/** Words that are right now and then; how often they may occur. */
const RARE = /\b(of its own|a look)\b(?!-)/i;
const MOST_RARE = 6;
/** Applied migrations are never edited; one function renames a state of an earlier release. */
const AS_THEY_WERE = [
  'control-plane/migrations/',
  'control-plane/schema.sql',
  'control-plane/functions/rename_execution_state.sql',
  'CONTRIBUTING.md',
  'tests/repository/plain-words.test.ts',
];

const files = filesIn('', '.ts', '.tsx', '.md', '.yaml', '.sql', '.json', '.mjs').filter(
  ({ path }) => !AS_THEY_WERE.some((start) => path.startsWith(start)),
);

it('source, strings and documents use plain words', () => {
  expect(files.length).toBeGreaterThan(1000);
  expect(found(HABITS)).toEqual([]);
});

it('they say seldom what a shorter word says', () => {
  expect(found(RARE).slice(MOST_RARE)).toEqual([]);
});

/** Also where a line break parts the words. */
function found(words: RegExp): string[] {
  return files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index, lines) => {
      const next = (lines[index + 1] ?? '').trim().replace(/^(?:\*|\/\/|--|#)\s*/, '');
      const read = `${line.trimEnd()} ${/^\w*/.exec(next)?.[0] ?? ''}`;
      const habit = words.exec(read.replaceAll(/\btold_at\b/g, ''))?.[0];
      return habit ? [`${path}:${index + 1} ${habit}`] : [];
    }),
  );
}
