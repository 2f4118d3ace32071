import { describe, expect, it } from 'vitest';
import { filesIn } from './source-files.ts';

const WALL_CLOCK = /\bDate\.now\(|\bnew Date\(\s*\)|(?<!new )\bDate\(\s*\)/;

/** Where time may be read directly. An unneeded entry fails. */
const reviewed: Record<string, string> = {
  'control-plane/src/platform/clock.ts': 'the clock itself',
};

describe('the control plane', () => {
  it('reads the time through its clock', () => {
    const direct = ['control-plane/src', 'control-plane/scripts']
      .flatMap((folder) => filesIn(folder, '.ts'))
      .filter(({ path }) => !path.includes('.test.') && !/\/testing[./]/.test(path))
      .filter(({ text }) => WALL_CLOCK.test(text))
      .map(({ path }) => path);
    expect(direct).toEqual(Object.keys(reviewed));
  });
});
