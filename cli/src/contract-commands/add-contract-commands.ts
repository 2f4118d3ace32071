import { Argument, Option, type Command } from 'commander';
import { operations, type Operation, type OperationField } from '@gpuaas/sdk/operations';
import { openSession } from '../session.ts';
import { callOperation } from './call-operation.ts';
import { commandWords } from './command-words.ts';
import { flagOf, isFound, keyOf, readFlag } from './flags.ts';
import { printAnswer } from './print-answer.ts';
import { contentOf, readBody } from './read-body.ts';
import { canWait, waitFor } from './wait-for.ts';

export const RESOURCES = 'Resources, with a command for each of their operations:';

const made = new WeakSet<Command>();

/** Whether a command was made here, from the contract, and not by hand. */
export function isFromContract(command: Command): boolean {
  return made.has(command);
}

/** A command for every operation of the contract that has none made by hand. */
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

/** Groups made from the contract are described by what is in them. */
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
    command.option('--body <json>', 'the whole body as JSON, @file or - for standard input; flags add to it');
  if (operation.paged) command.option('--all', 'every page, not only the first');
  if (operation.ifMatch)
    command.option('--if-match <tag>', 'change only what still has this tag; read for you when left out');
  if (canWait(operation)) command.option('--wait', 'until it is done, or has failed');
  command.action(async () => {
    const session = openSession(command);
    const flags = command.opts<Flags>();
    const given = (place: OperationField['in']): Record<string, unknown> =>
      Object.fromEntries(
        others
          .filter((field) => field.in === place)
          .map((field) => [field.name, flags[keyOf(field, group)]])
          .filter(([, value]) => value !== undefined),
      );
    const answer = await callOperation(session, operation, {
      path: Object.fromEntries(inPath.map((field, index) => [field.name, command.processedArgs[index]])),
      query: given('query'),
      body: { ...(await readBody(flags.body)), ...(await fromFiles(others, given('body'))) },
      ...(flags.ifMatch !== undefined && { ifMatch: flags.ifMatch }),
      everyPage: flags.all ?? false,
    });
    const done = flags.wait ? await waitFor(session, operation, answer) : answer;
    await printAnswer(session, operation, done);
  });
}

async function fromFiles(
  fields: OperationField[],
  given: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const read = { ...given };
  for (const { name, fromFile } of fields)
    if (fromFile && typeof given[name] === 'string') read[name] = await contentOf(given[name]);
  return read;
}

function optionOf(field: OperationField, group: Command): Option {
  const flag = flagOf(field, group);
  const words = [
    field.description && lowerFirst(field.description),
    field.required && (isFound(field) ? 'needed when you have several' : 'required'),
    field.type === 'json' && 'as JSON',
    field.fromFile && '@file, or - for standard input',
    field.type === 'money' && 'such as "2.99 USD"',
  ].filter(Boolean);
  const value =
    { boolean: '[yes|no]', strings: '<values...>', integers: '<numbers...>' }[field.type as string] ??
    `<${field.type}>`;
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
  return /^[A-Z][a-z]/.test(text) ? text[0]!.toLowerCase() + text.slice(1) : text;
}
