import { expect, it } from 'vitest';
import { taskSchemas } from '../generated/tasks.ts';
import { ignorableNames, withoutUnknown, type ParamSchema } from './ignorable-params.ts';

const previous: ParamSchema = taskSchemas['slice.vm_release.params.json']!;
/** The next release adds one parameter that may be left out, and one that may not. */
const next: ParamSchema = {
  properties: { ...previous.properties, cooling: { 'x-ignorable': true }, keep_disks: {} },
};
const release = { allocation_id: 'a', wipe_scope: 'nothing' };

it('an agent of the release before leaves out what the next one marks, and nothing else', () => {
  const params = { ...release, cooling: 'fast', keep_disks: true };
  const ignorable = ignorableNames(next, params);
  expect(ignorable).toEqual(['cooling']);
  expect(withoutUnknown(previous, params, ignorable)).toEqual({ ...release, keep_disks: true });
  expect(withoutUnknown(next, params, ignorable)).toEqual(params);
});

it('no task can make an agent leave out what it knows', () => {
  expect(withoutUnknown(previous, release, ['wipe_scope'])).toEqual(release);
  expect(withoutUnknown(previous, { ...release, constructor: 1 }, ['constructor'])).toEqual(release);
});

it('a task without new parameters names none', () => {
  expect(ignorableNames(next, release)).toEqual([]);
  expect(ignorableNames({}, { ...release, constructor: 1 })).toEqual([]);
});
