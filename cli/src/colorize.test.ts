import { afterEach, describe, expect, it, vi } from 'vitest';
import { stripControlCharacters, colorize, colorizeState } from './colorize.ts';
import { formatTable } from './table.ts';

const terminal = { isTTY: true };
afterEach(() => vi.unstubAllEnvs());

describe('colours', () => {
  it('are used only in terminals that support them', () => {
    vi.stubEnv('NO_COLOR', '');
    vi.stubEnv('TERM', 'xterm');
    expect(colorize('red', 'no', terminal)).toBe('\u001B[31mno\u001B[0m');
    expect(colorizeState('active', terminal)).toContain('\u001B[32m');
    expect(colorize('red', 'no', {})).toBe('no');
    vi.stubEnv('NO_COLOR', '1');
    expect(colorize('red', 'no', terminal)).toBe('no');
    vi.stubEnv('NO_COLOR', '');
    vi.stubEnv('TERM', 'dumb');
    expect(colorize('red', 'no', terminal)).toBe('no');
  });

  it('take no width in a table', () => {
    expect(
      formatTable([
        ['A', 'B'],
        ['\u001B[31mlong\u001B[0m', 'x'],
      ]),
    ).toBe('A     B\n\u001B[31mlong\u001B[0m  x');
  });
});

describe('stripControlCharacters', () => {
  it('keeps text of other users from controlling the terminal', () => {
    expect(stripControlCharacters('a\u001B]0;title\u0007b\u001B[2Jc\u009B2Jd\re')).toBe('a]0;titleb[2Jc2Jde');
    expect(stripControlCharacters('\u001B[31mred\u001B[0m\n\ttab')).toBe('\u001B[31mred\u001B[0m\n\ttab');
  });
});
