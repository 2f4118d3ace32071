import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { isFromContract, RESOURCES } from './contract-commands/add-contract-commands.ts';
import { createProgram } from './program.ts';

/** Generated from the contract; all hand-written commands are covered. */
const SAMPLES = ['webhooks create', 'teams update', 'admin nodes drain', 'admin prices create'];

function commandsByHand(program: Command): string[] {
  const words = (command: Command): string[] =>
    command.parent ? [...words(command.parent), command.name()] : [];
  const walk = (command: Command): Command[] => command.commands.flatMap((one) => [one, ...walk(one)]);
  return walk(program)
    .filter((command) => command.commands.length === 0 && !isFromContract(command))
    .map((command) => words(command).join(' '));
}

it('reads like sentences', () => {
  const program = createProgram();
  const help = (words: string): string =>
    words
      .split(' ')
      .filter(Boolean)
      .reduce((command, word) => command.commands.find((one) => one.name() === word)!, program)
      .helpInformation()
      // The rest is as long as the contract, and changes with it.
      .split(RESOURCES)[0]!;
  for (const words of ['', 'admin', ...commandsByHand(program), ...SAMPLES])
    expect(help(words), words).toMatchSnapshot(`gpuaas ${words}`.trim());
});
