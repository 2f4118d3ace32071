import { Argument, Option, type Command } from 'commander';
import { operations, type Operation, type OperationField } from '@gpuaas/sdk/operations';
import { openSession } from '../session.ts';
import { callOperation } from './call-operation.ts';
import { commandWords } from './command-words.ts';
import { flagName, isInferred, optionKey, readFlag } from './flags.ts';
import { printAnswer } from './print-answer.ts';
import { readTextArgument, readBody } from './read-body.ts';
import { canWait, waitForOperation } from './wait-for.ts';

export const RESOURCES = 'Resources:';

const made = new WeakSet<Command>();

/** Whether a command was generated from the contract, not written by hand. */
export function isFromContract(command: Command): boolean {
  return made.has(command);
}

/** A command for every operation of the contract without a hand-written one. */
export function addContractCommands(program: Command): void {
  for (const operation of operations) {
    const words = commandWords(operation);
    if (!words) continue;
    const verb = words.at(-1)!;
    const group = words.slice(0, -1).reduce((parent, noun) => groupOf(parent, noun), program);
    if (!group.commands.some((command) => command.name() === verb)) addCommand(group, verb, operation);
  }
}

function groupOf(parent: Command, noun: string): Command {
  const found = parent.commands.find((command) => command.name() === noun);
  if (found) return found;
  const group = parent.command(noun).helpGroup(RESOURCES);
  made.add(group);
  return group;
}

/** Describes groups generated from the contract by their commands. */
export function describeGroups(parent: Command): void {
  for (const group of parent.commands.filter((command) => command.commands.length > 0)) {
    describeGroups(group);
    if (!group.description()) group.description(group.commands.map((command) => command.name()).join(', '));
  }
}

interface Flags {
  body?: string;
  all?: boolean;
  wait?: boolean;
  ifMatch?: string;
  [field: string]: unknown;
}

function addCommand(group: Command, verb: string, operation: Operation): void {
  const inPath = operation.fields.filter((field) => field.in === 'path');
  // `gpuaas admin tasks` is a question too.
  const isDefault = verb === 'list' && inPath.length === 0 && made.has(group);
  const command = group.command(verb, { isDefault }).description(lowerFirst(operation.summary));
  made.add(command);
  const others = operation.fields.filter((field) => field.in !== 'path');
  for (const { name, description } of inPath) command.addArgument(new Argument(`<${name}>`, description));
  for (const field of others) command.addOption(optionOf(field, group));
  if (others.some((field) => field.in === 'body'))
    command.option('--body <json>', 'request body as JSON, @file or - for stdin; flags override it');
  if (operation.paged) command.option('--all', 'fetch all pages');
  if (operation.ifMatch)
    command.option('--if-match <tag>', 'ETag the resource must still have (default: fetched)');
  if (canWait(operation)) command.option('--wait', 'wait until it has finished or failed');
  command.action(async () => {
    const session = openSession(command);
    const flags = command.opts<Flags>();
    const given = (place: OperationField['in']): Record<string, unknown> =>
      Object.fromEntries(
        others
          .filter((field) => field.in === place)
          .map((field) => [field.name, flags[optionKey(field, group)]])
          .filter(([, value]) => value !== undefined),
      );
    const answer = await callOperation(session, operation, {
      path: Object.fromEntries(inPath.map((field, index) => [field.name, command.processedArgs[index]])),
      query: given('query'),
      body: { ...(await readBody(flags.body)), ...(await fromFiles(others, given('body'))) },
      ...(flags.ifMatch !== undefined && { ifMatch: flags.ifMatch }),
      everyPage: flags.all ?? false,
    });
    const done = flags.wait ? await waitForOperation(session, operation, answer) : answer;
    await printAnswer(session, operation, done);
  });
}

async function fromFiles(
  fields: OperationField[],
  given: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const read = { ...given };
  for (const { name, fromFile } of fields)
    if (fromFile && typeof given[name] === 'string') read[name] = await readTextArgument(given[name]);
  return read;
}

const SHOWN_VALUES: Record<string, string> = {
  boolean: '[yes|no]',
  strings: '<values...>',
  integers: '<numbers...>',
};

function optionOf(field: OperationField, group: Command): Option {
  const flag = flagName(field, group);
  const words = [
    field.description && lowerFirst(field.description),
    field.required && (isInferred(field) ? 'required if you have several' : 'required'),
    field.type === 'json' && 'as JSON',
    field.fromFile && '@file, or - for stdin',
    field.type === 'money' && 'for example "2.99 USD"',
  ].filter(Boolean);
  const value = SHOWN_VALUES[field.type] ?? `<${field.type}>`;
  const option = new Option(`${flag} ${value}`, words.join('; '));
  if (field.type === 'strings') return option;
  if (field.choices && field.type === 'string') return option.choices(field.choices);
  if (field.type === 'integers')
    return option.argParser((text: string, former: number[] | undefined) => [
      ...(former ?? []),
      readFlag({ ...field, type: 'integer' }, text) as number,
    ]);
  return option.argParser((text: string) => readFlag(field, text));
}

function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}
