import { at } from './fields.ts';
import { paint, paintState } from './paint.ts';
import { money, table } from './table.ts';

/** What tells things apart comes first; a terminal has room for few columns. */
const FIRST = ['id', 'name', 'display_name', 'hostname', 'kind', 'type', 'state', 'status'];
const MOST_COLUMNS = 7;
const STATES = new Set(['state', 'status', 'posture', 'connection', 'severity', 'standing']);

/** A table of any list of the contract. */
export function listingOf(items: object[], columns: string[]): string {
  if (items.length === 0) return 'None.';
  const rows = items.map((item) =>
    columns.map((column) => cell(column, (item as Record<string, unknown>)[column] ?? at(item, column))),
  );
  return table([columns.map((column) => paint('bold', column.replaceAll('_', ' ').toUpperCase())), ...rows]);
}

/** The columns that fit, of those that are plain values. */
export function columnsOf(known: string[], item: object): string[] {
  const order = (name: string): number => (FIRST.indexOf(name) + FIRST.length + 1) % (FIRST.length + 1);
  return known
    .filter((name) => name in item)
    .toSorted((one, other) => order(one) - order(other))
    .slice(0, MOST_COLUMNS);
}

/** One thing, a line for each of its properties. */
export function factsOf(thing: unknown): string {
  if (typeof thing !== 'object' || thing === null) return String(thing);
  const rows = Object.entries(thing).map(([name, value]) => [name.replaceAll('_', ' '), cell(name, value)]);
  return rows.length === 0 ? 'Done.' : table(rows);
}

function cell(name: string, value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (isMoney(value)) return money(value);
  if (typeof value !== 'string') return JSON.stringify(value);
  return STATES.has(name) ? paintState(value) : value;
}

function isMoney(value: unknown): value is { currency: string; micros: number } {
  return typeof value === 'object' && value !== null && 'micros' in value && 'currency' in value;
}
