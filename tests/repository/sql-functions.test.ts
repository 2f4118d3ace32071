import { expect, test } from 'vitest';
import { filesIn } from './source-files.ts';

const files = filesIn('control-plane/functions', '.sql').map(({ path }) =>
  path.split('/').at(-1)!.slice(0, -4),
);
const schema = filesIn('control-plane', 'schema.sql')[0]!.text;
const inDatabase = [...schema.matchAll(/^CREATE OR REPLACE FUNCTION public\.(\w+)\(/gm)].map(
  ([, name]) => name!,
);

test('each SQL function of the database stands in the file of its name', () => {
  expect([...inDatabase].sort()).toEqual([...files].sort());
});

/** The last migration that was written before functions had their own files. */
const LAST_WITH_FUNCTIONS = '0093';

test('migrations leave functions to their files', () => {
  const defining = filesIn('control-plane/migrations', '.sql')
    .map(({ path, text }) => ({ name: path.split('/').at(-1)!, text }))
    .filter(
      ({ name, text }) =>
        name.slice(0, 4) > LAST_WITH_FUNCTIONS && /^create (or replace )?function/im.test(text),
    )
    .map(({ name }) => name);
  expect(defining).toEqual([]);
});
