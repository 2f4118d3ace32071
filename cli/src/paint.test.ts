import { afterEach, describe, expect, it, vi } from 'vitest';
import { harmless, paint, paintState } from './paint.ts';
import { table } from './table.ts';

const terminal = { isTTY: true };
afterEach(() => vi.unstubAllEnvs());

describe('colours', () => {
  it('are for terminals that want them', () => {
    vi.stubEnv('NO_COLOR', '');
    vi.stubEnv('TERM', 'xterm');
    expect(paint('red', 'no', terminal)).toBe('\u001B[31mno\u001B[0m');
    expect(paintState('active', terminal)).toContain('\u001B[32m');
    expect(paint('red', 'no', {})).toBe('no');
    vi.stubEnv('NO_COLOR', '1');
    expect(paint('red', 'no', terminal)).toBe('no');
    vi.stubEnv('NO_COLOR', '');
    vi.stubEnv('TERM', 'dumb');
    expect(paint('red', 'no', terminal)).toBe('no');
  });

  it('take no room in a table', () => {
    expect(
      table([
        ['A', 'B'],
        ['\u001B[31mlong\u001B[0m', 'x'],
      ]),
    ).toBe('A     B\n\u001B[31mlong\u001B[0m  x');
  });
});

describe('harmless', () => {
  it('keeps what others wrote from steering the terminal', () => {
    expect(harmless('a\u001B]0;title\u0007b\u001B[2Jc\u009B2Jd\re')).toBe('a]0;titleb[2Jc2Jde');
    expect(harmless('\u001B[31mred\u001B[0m\n\ttab')).toBe('\u001B[31mred\u001B[0m\n\ttab');
  });
});
