import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { refuseNodeRelease } from './node-release.ts';

describe('a release of Node', () => {
  it.each(['v20.20.2', '22.23.2', '24.0.0', '24.17.9', '24.18.0', '25.9.0', '26.3.0', '26.9.9'])(
    '%s is refused',
    (version) => {
      expect(refuseNodeRelease(version)).toMatch(
        /^Node v?\d+\.\d+\.\d+ has known security holes: run 24\.18\.1 or/,
      );
    },
  );

  it.each(['24.18.1', 'v24.21.0', '26.10.0', '26.12.1', '28.0.0', process.version])(
    '%s is good',
    (version) => {
      expect(refuseNodeRelease(version)).toBeNull();
    },
  );

  it('that comes as a package is good on every system', () => {
    const { optionalDependencies } = JSON.parse(
      readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
    ) as { optionalDependencies: Record<string, string> };
    const releases = Object.entries(optionalDependencies).filter(([name]) => name.startsWith('node-'));
    expect(releases.length).toBe(4);
    for (const [name, version] of releases) expect(refuseNodeRelease(version), name).toBeNull();
  });
});
