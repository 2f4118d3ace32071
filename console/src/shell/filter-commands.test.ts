import { expect, test } from 'vitest';
import { filterCommands } from './filter-commands.ts';

const COMMANDS = [
  { label: 'Audit log', hint: 'Organization' },
  { label: 'Audit log', hint: 'Operator' },
  { label: 'Launch', hint: 'Project' },
];

test('every typed word must be in the name or the kind', () => {
  expect(filterCommands(COMMANDS, 'oper audit')).toEqual([COMMANDS[1]]);
  expect(filterCommands(COMMANDS, '')).toHaveLength(3);
  expect(filterCommands(COMMANDS, 'audit launch')).toEqual([]);
});
