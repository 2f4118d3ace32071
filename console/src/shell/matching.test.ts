import { expect, test } from 'vitest';
import { matching } from './matching.ts';

const COMMANDS = [
  { label: 'Audit log', hint: 'Organization' },
  { label: 'Audit log', hint: 'Operator' },
  { label: 'Launch', hint: 'Project' },
];

test('every typed word must be in the name or the kind', () => {
  expect(matching(COMMANDS, 'oper audit')).toEqual([COMMANDS[1]]);
  expect(matching(COMMANDS, '')).toHaveLength(3);
  expect(matching(COMMANDS, 'audit launch')).toEqual([]);
});
