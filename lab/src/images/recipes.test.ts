import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { recipeDigest } from './build-image.ts';
import { forbiddenIn, readPackages, sourcesOf } from './build-root.ts';
import { recipes, SNAPSHOT, UPDATES, type Recipe, type RecipeName } from './recipes.ts';

const all = Object.entries(recipes) as [RecipeName, Recipe][];

describe('recipes of images', () => {
  it('keep toolchains out of the base, by what is asked for and by what came', () => {
    const asked = recipes.base.packages.map((name) => ({ name, version: '1' }));
    expect(forbiddenIn(recipes.base, asked)).toEqual([]);
    const came = readPackages(
      'gcc-13-base:amd64\t13.2\ngcc-13\t13.2\nmake\t4\nmakedumpfile\t1\ncuda-toolkit-13-0\t13\n',
    );
    expect(forbiddenIn(recipes.base, came)).toEqual(['cuda-toolkit-13-0', 'gcc-13', 'make']);
    expect(forbiddenIn(recipes.cuda, came)).toEqual([]);
  });

  it('promise a driver where they bring one, and a toolkit only for developers', () => {
    const driver = (recipe: Recipe): boolean =>
      recipe.packages.some((name) => name.startsWith('nvidia-headless'));
    for (const [, recipe] of all) {
      expect(recipe.readinessChecks.includes('nvidia_driver')).toBe(driver(recipe));
      expect(recipe.readinessChecks.includes('cuda_toolkit')).toBe(recipe.kind === 'cuda-dev');
    }
  });

  it('bring a driver that their toolkit works with', () => {
    expect(recipes.cuda.packages).toContain('cuda-toolkit-13-0');
    const branch = recipes.cuda.packages.map((name) => /^nvidia-utils-(\d+)-/.exec(name)?.[1]).find(Boolean);
    expect(Number(branch)).toBeGreaterThanOrEqual(580);
  });

  it('take packages from named moments, and vendors only with the key that was pinned', () => {
    expect(SNAPSHOT.mirror).toContain(SNAPSHOT.at);
    expect(UPDATES.mirror).toContain(UPDATES.at);
    expect(new Date(SNAPSHOT.epoch * 1000).toISOString()).toBe('2024-04-25T00:00:00.000Z');
    for (const [, { sources, vendors }] of all) {
      const moments = sourcesOf({ sources }).map((source) => /\/(\w+) noble(-updates)? /.exec(source));
      for (const moment of moments) expect(moment?.[1]).toBe(moment?.[2] ? UPDATES.at : SNAPSHOT.at);
      for (const source of sourcesOf({ sources }, 'http://mirror.example/ubuntu'))
        expect(source).toMatch(/^deb http:\/\/mirror\.example\/ubuntu noble(-updates)? /);
      for (const vendor of vendors) expect(vendor.keyFingerprint).toMatch(/^[0-9A-F]{40}$/);
    }
  });

  it('are named in what is signed: another recipe is another digest', () => {
    expect(new Set(all.map(([name]) => recipeDigest(name))).size).toBe(all.length);
  });

  it('are finished by a script that a shell can read', () => {
    execFileSync('sh', ['-n', fileURLToPath(new URL('finish-root.sh', import.meta.url))]);
  });
});
