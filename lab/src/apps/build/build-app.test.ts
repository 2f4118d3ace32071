import { createHash } from 'node:crypto';
import { builtinModules } from 'node:module';
import { describe, expect, it } from 'vitest';
import { APP_NAMES, buildApp } from './build-app.ts';

describe.each(APP_NAMES)('the payload of %s', (app) => {
  it('is the same at every build, known by its digest, and free of paths of this machine', async () => {
    const [first, second] = [await buildApp(app), await buildApp(app)];
    expect(second.digest).toBe(first.digest);
    expect(first.digest).toBe(`sha256:${createHash('sha256').update(first.bytes).digest('hex')}`);
    expect(first.bytes.includes(process.cwd())).toBe(false);
  });

  it('needs nothing but Node', async () => {
    const code = (await buildApp(app)).bytes.toString('utf8');
    const imported = [...code.matchAll(/^import [^;'"]*['"]([^'"]+)['"]/gm)].map(([, name]) => name ?? '');
    expect(imported.filter((name) => !name.startsWith('node:') && !builtinModules.includes(name))).toEqual(
      [],
    );
  });
});
