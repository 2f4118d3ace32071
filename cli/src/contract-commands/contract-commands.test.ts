import type { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { operations, type Operation, type OperationField } from '@gpuaas/sdk/operations';
import { createProgram } from '../program.ts';
import { commandWords } from './command-words.ts';
import { flagName } from './flags.ts';
import { canWait, NOT_AWAITED } from './wait-for.ts';

const forPrograms = operations.filter((operation) => commandWords(operation) !== null);

function find(program: Command, words: string[]): Command | undefined {
  return words.reduce<Command | undefined>(
    (parent, word) => parent?.commands.find((command) => command.name() === word),
    program,
  );
}

describe('commands of the contract', () => {
  it('exist for every operation, each with unique words', () => {
    const program = createProgram();
    const words = forPrograms.map((operation) => commandWords(operation)!);
    expect(words.filter((one) => !find(program, one))).toEqual([]);
    expect(new Set(words.map((one) => one.join(' '))).size).toBe(words.length);
    const browsers = operations.filter((one) => !forPrograms.includes(one)).map((one) => one.path);
    expect(browsers.filter((path) => path.startsWith('/api/'))).toEqual([]);
  });

  it('can be waited for when their work is only accepted, or say why not', () => {
    const accepted = operations.filter((operation) => operation.accepted !== undefined);
    expect(accepted.length).toBeGreaterThan(0);
    expect(accepted.filter((one) => canWait(one) === one.id in NOT_AWAITED).map(({ id }) => id)).toEqual([]);
    const names = new Set(accepted.map(({ id }) => id));
    expect(Object.keys(NOT_AWAITED).filter((id) => !names.has(id))).toEqual([]);
  });

  it('are explained: every one has a summary and every group says what is in it', () => {
    const silent: string[] = [];
    const visit = (command: Command, words: string): void => {
      if (!command.description()) silent.push(words);
      for (const child of command.commands) visit(child, `${words} ${child.name()}`);
    };
    visit(createProgram(), 'gpuaas');
    expect(silent).toEqual([]);
  });
});

describe('a command of the contract', () => {
  const sent: { request: Request; body: unknown }[] = [];
  beforeEach(() => {
    sent.length = 0;
    vi.stubEnv('GPUAAS_API_KEY', 'k');
    vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    vi.stubGlobal('fetch', async (request: Request) => {
      sent.push({ request, body: request.body ? await request.clone().json() : undefined });
      return Response.json({ items: [], next_page: null }, { headers: { etag: '"tag"' } });
    });
  });
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  const sample = ({ type, choices, name }: OperationField): { text: string[]; value: unknown } => {
    if (type === 'strings') return { text: ['one', 'two'], value: ['one', 'two'] };
    if (type === 'integer') return { text: ['7'], value: 7 };
    if (type === 'number') return { text: ['0.5'], value: 0.5 };
    if (type === 'boolean') return { text: ['no'], value: false };
    if (type === 'integers') return { text: ['3', '4'], value: [3, 4] };
    if (type === 'money') return { text: ['2.99 usd'], value: { currency: 'USD', micros: 2_990_000 } };
    if (type === 'value') return { text: ['[1,"a"]'], value: [1, 'a'] };
    if (type === 'json') return { text: ['{"a":[1]}'], value: { a: [1] } };
    const isChosen = ['project_id', 'organization_id', 'allocation_id'].includes(name);
    const value = choices?.[0] ?? (isChosen ? crypto.randomUUID() : `a ${name}`);
    return { text: [value], value };
  };

  const made = forPrograms.filter((operation) => operation.answer !== 'stream');
  const byHand = new Set(['api-keys', 'ssh-keys', 'members', 'invitations']);
  const cases = made
    .filter((operation) => !byHand.has(commandWords(operation)![0]!))
    .map((operation): [string, Operation] => [commandWords(operation)!.join(' '), operation]);

  it.each(cases)('%s sends every field in its place', async (words, operation) => {
    const program = createProgram();
    const group = find(program, words.split(' '))!.parent!;
    const fields = operation.fields.map((field) => ({ field, ...sample(field) }));
    const inPath = fields.filter(({ field }) => field.in === 'path');
    await program.parseAsync([
      'node',
      'gpuaas',
      ...words.split(' '),
      ...inPath.flatMap(({ text }) => text),
      ...fields
        .filter(({ field }) => field.in !== 'path')
        .flatMap(({ field, text }) => [flagName(field, group), ...text]),
    ]);
    const { request, body } = sent.at(-1)!;
    const url = new URL(request.url);
    expect(request.method.toLowerCase()).toBe(operation.method);
    expect(decodeURIComponent(url.pathname)).toBe(
      operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
        String(inPath.find(({ field }) => field.name === name)!.value),
      ),
    );
    const expected = (place: 'query' | 'body') =>
      Object.fromEntries(
        fields.filter(({ field }) => field.in === place).map(({ field, value }) => [field.name, value]),
      );
    expect(body ?? {}).toEqual(expected('body'));
    for (const [name, value] of Object.entries(expected('query')))
      expect(url.searchParams.getAll(name)).toEqual([value].flat().map(String));
    expect(request.headers.get('if-match')).toBe(operation.ifMatch ? '"tag"' : null);
  });
});
