import { stripVTControlCharacters } from 'node:util';

/** Columns side by side; colour codes take no width. */
export function formatTable(rows: string[][]): string {
  const width = (cell: string): number => stripVTControlCharacters(cell).length;
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => width(row[column] ?? ''))));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - width(cell))))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Exact: the micros are integers and stay so. */
export function money({ currency, micros }: { currency: string; micros: number }): string {
  const sign = micros < 0 ? '-' : '';
  const text = String(Math.abs(micros)).padStart(7, '0');
  const [whole, fraction] = [text.slice(0, -6), text.slice(-6)];
  const shown = fraction.replace(/0{1,4}$/, '');
  return `${sign}${whole}.${shown} ${currency}`;
}

export function pluralize(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
