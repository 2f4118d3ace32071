import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Operation } from '@gpuaas/sdk/operations';
import { money, print, table } from '../print.ts';

/** What tells things apart comes first; a terminal has room for few columns. */
const FIRST = ['id', 'name', 'display_name', 'hostname', 'kind', 'type', 'state', 'status'];
const MOST_COLUMNS = 7;

/** JSON for programs; for people a table of a list and the facts of one thing. */
export async function printAnswer(
  json: boolean,
  operation: Operation,
  answer: unknown,
  fields: string[] | undefined,
): Promise<void> {
  if (operation.answer === 'stream')
    return await pipeline(Readable.fromWeb(answer as never), process.stdout, { end: false });
  if (typeof answer === 'string') return void process.stdout.write(answer);
  if (answer === undefined || answer === null) return print(json, {}, () => 'Done.');
  const shown = fields ? select(answer, fields) : answer;
  print(json, shown, () => (isPage(shown) ? listing(shown.items, operation, fields) : facts(shown)));
}

interface Page {
  items: object[];
}

function isPage(answer: unknown): answer is Page {
  return typeof answer === 'object' && answer !== null && Array.isArray((answer as Partial<Page>).items);
}

function select(answer: unknown, fields: string[]): unknown {
  if (isPage(answer)) return { ...answer, items: answer.items.map((item) => pick(item, fields)) };
  return pick(answer, fields);
}

function pick(thing: unknown, fields: string[]): object {
  return Object.fromEntries(fields.map((field) => [field, at(thing, field)]));
}

function at(thing: unknown, field: string): unknown {
  return field
    .split('.')
    .reduce<unknown>((value, part) => (value as Record<string, unknown> | null)?.[part] ?? null, thing);
}

function listing(items: object[], operation: Operation, fields: string[] | undefined): string {
  if (items.length === 0) return 'None.';
  const columns = fields ?? columnsOf(operation, items[0]!);
  const rows = items.map((item) =>
    columns.map((column) => cell((item as Record<string, unknown>)[column] ?? at(item, column))),
  );
  return table([columns.map((column) => column.replaceAll('_', ' ').toUpperCase()), ...rows]);
}

function columnsOf(operation: Operation, item: object): string[] {
  const known = operation.columns ?? Object.keys(item);
  const order = (name: string): number => (FIRST.indexOf(name) + FIRST.length + 1) % (FIRST.length + 1);
  return known
    .filter((name) => name in item)
    .toSorted((one, other) => order(one) - order(other))
    .slice(0, MOST_COLUMNS);
}

function facts(thing: unknown): string {
  if (typeof thing !== 'object' || thing === null) return String(thing);
  return table(Object.entries(thing).map(([name, value]) => [name.replaceAll('_', ' '), cell(value)]));
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (isMoney(value)) return money(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isMoney(value: unknown): value is { currency: string; micros: number } {
  return typeof value === 'object' && value !== null && 'micros' in value && 'currency' in value;
}
