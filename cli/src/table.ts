import { stripVTControlCharacters } from 'node:util';

/** Columns side by side; colours take no room. */
export function table(rows: string[][]): string {
  const width = (cell: string): number => stripVTControlCharacters(cell).length;
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => width(row[column]!))));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell + ' '.repeat(widths[column]! - width(cell)))
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

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
