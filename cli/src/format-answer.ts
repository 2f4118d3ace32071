import { isRecord, valueAt } from './fields.ts';
import { colorize, colorizeState } from './colorize.ts';
import { money, formatTable } from './table.ts';

/** Identifying columns come first; a terminal has space for few. */
const FIRST = ['id', 'name', 'display_name', 'hostname', 'kind', 'type', 'state', 'status'];
const MOST_COLUMNS = 7;
const STATES = new Set(['state', 'status', 'posture', 'connection', 'severity', 'standing']);

/** A table of any list of the contract. */
export function formatList(items: object[], columns: string[]): string {
  if (items.length === 0) return 'None.';
  const rows = items.map((item) =>
    columns.map((column) => cell(column, isRecord(item) ? (item[column] ?? valueAt(item, column)) : null)),
  );
  return formatTable([
    columns.map((column) => colorize('bold', column.replaceAll('_', ' ').toUpperCase())),
    ...rows,
  ]);
}

/** The columns that fit, among those with plain values. */
export function chooseColumns(known: string[], item: object): string[] {
  const order = (name: string): number => (FIRST.indexOf(name) + FIRST.length + 1) % (FIRST.length + 1);
  return known
    .filter((name) => name in item)
    .toSorted((one, other) => order(one) - order(other))
    .slice(0, MOST_COLUMNS);
}

/** A single resource, one line per property. */
export function formatFacts(thing: unknown): string {
  if (typeof thing !== 'object' || thing === null) return String(thing);
  const rows = Object.entries(thing).map(([name, value]) => [name.replaceAll('_', ' '), cell(name, value)]);
  return rows.length === 0 ? 'Done.' : formatTable(rows);
}

function cell(name: string, value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (isMoney(value)) return money(value);
  if (typeof value !== 'string') return JSON.stringify(value);
  return STATES.has(name) ? colorizeState(value) : value;
}

function isMoney(value: unknown): value is { currency: string; micros: number } {
  return typeof value === 'object' && value !== null && 'micros' in value && 'currency' in value;
}
