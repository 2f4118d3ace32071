import { stripVTControlCharacters } from 'node:util';
import { stripControlCharacters } from '../colorize.ts';

const UP = (lines: number): string => (lines > 0 ? `\u001B[${lines}A` : '');
const CLEAR_DOWN = '\r\u001B[J';
export const HIDE_CURSOR = '\u001B[?25l';
export const SHOW_CURSOR = '\u001B[?25h';

/** Lines of a terminal that are drawn again in their place. */
export class Redraw {
  readonly #stream: NodeJS.WriteStream;
  #height = 0;

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream;
  }

  draw(lines: string[]): void {
    const columns = this.#stream.columns || 80;
    const text = lines.map((line) => `${fit(stripControlCharacters(line), columns - 1)}\n`).join('');
    this.#stream.write(`${UP(this.#height)}${CLEAR_DOWN}${text}`);
    this.#height = lines.length;
  }

  /** Removes the lines. */
  clear(): void {
    this.draw([]);
  }
}

/** A line that wrapped would be two, and the next drawing would be one line too low. */
function fit(line: string, columns: number): string {
  const bare = stripVTControlCharacters(line);
  return bare.length <= columns ? line : `${bare.slice(0, columns - 1)}…`;
}
