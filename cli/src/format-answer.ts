import { isRecord, valueAt } from './fields.ts';
import { colorize, colorizeState } from './colorize.ts';
import { isMoney, STATES } from './table-columns.ts';
import { money, formatTable } from './table.ts';

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d+Z$/;

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
  if (STATES.has(name)) return colorizeState(value);
  return TIME.test(value) ? value.replace(/\.\d+Z$/, 'Z') : value.replaceAll(/\s*\n\s*/g, ' ').trim();
}
