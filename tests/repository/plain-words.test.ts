import { expect, it } from 'vitest';
import { filesIn } from './source-files.ts';

/** Habits of speech that say less than the trade's words (CONTRIBUTING, "How we write"). */
const HABITS = /\b(whoever|at once|told|anew|for ever|by itself|wait(?:s|ing)? in line|a look at|papers)\b/i;
/** Applied migrations are never edited; one function renames a state of an earlier release. */
const AS_THEY_WERE = [
  'control-plane/migrations/',
  'control-plane/schema.sql',
  'control-plane/functions/rename_execution_state.sql',
  'CONTRIBUTING.md',
  'tests/repository/plain-words.test.ts',
];

it('source, strings and documents use plain words', () => {
  const files = filesIn('', '.ts', '.tsx', '.md', '.yaml', '.sql', '.json').filter(
    ({ path }) => !AS_THEY_WERE.some((start) => path.startsWith(start)),
  );
  expect(files.length).toBeGreaterThan(1000);
  const found = files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => {
      const habit = HABITS.exec(line.replaceAll(/\btold_at\b/g, ''))?.[0];
      return habit ? [`${path}:${index + 1} ${habit}`] : [];
    }),
  );
  expect(found).toEqual([]);
});
