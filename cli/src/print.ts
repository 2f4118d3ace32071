/** JSON for programs, words for people. */
export function print(json: boolean, answer: unknown, words: () => string): void {
  process.stdout.write(`${json ? JSON.stringify(answer, null, 2) : words()}\n`);
}

export function table(rows: string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
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
