import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { recipeDigest } from './build-image.ts';
import { forbiddenPackages, readPackages, aptSources } from './build-root.ts';
import { recipes, SNAPSHOT, UPDATES, type Recipe, type RecipeName } from './recipes.ts';

const all = Object.entries(recipes) as [RecipeName, Recipe][];

describe('recipes of images', () => {
  it('keep toolchains out of the base, both requested and installed', () => {
    const asked = recipes.base.packages.map((name) => ({ name, version: '1' }));
    expect(forbiddenPackages(recipes.base, asked)).toEqual([]);
    const came = readPackages(
      'gcc-13-base:amd64\t13.2\ngcc-13\t13.2\nmake\t4\nmakedumpfile\t1\ncuda-toolkit-13-0\t13\n',
    );
    expect(forbiddenPackages(recipes.base, came)).toEqual(['cuda-toolkit-13-0', 'gcc-13', 'make']);
    expect(forbiddenPackages(recipes.cuda, came)).toEqual([]);
  });

  it('promise a driver only if they contain one, and a toolkit only for developers', () => {
    const driver = (recipe: Recipe): boolean =>
      recipe.packages.some((name) => name.startsWith('nvidia-headless'));
    for (const [, recipe] of all) {
      expect(recipe.readinessChecks.includes('nvidia_driver')).toBe(driver(recipe));
      expect(recipe.readinessChecks.includes('cuda_toolkit')).toBe(recipe.kind === 'cuda-dev');
    }
  });

  it('contain a driver that supports their toolkit', () => {
    expect(recipes.cuda.packages).toContain('cuda-toolkit-13-0');
    const branch = recipes.cuda.packages.map((name) => /^nvidia-utils-(\d+)-/.exec(name)?.[1]).find(Boolean);
    expect(Number(branch)).toBeGreaterThanOrEqual(580);
  });

  it('take packages from dated snapshots, and from vendors only with the pinned key', () => {
    expect(SNAPSHOT.mirror).toContain(SNAPSHOT.at);
    expect(UPDATES.mirror).toContain(UPDATES.at);
    expect(new Date(SNAPSHOT.epoch * 1000).toISOString()).toBe('2024-04-25T00:00:00.000Z');
    for (const [, { sources, vendors }] of all) {
      const moments = aptSources({ sources }).map((source) => /\/(\w+) noble(-updates)? /.exec(source));
      for (const moment of moments) expect(moment?.[1]).toBe(moment?.[2] ? UPDATES.at : SNAPSHOT.at);
      for (const source of aptSources({ sources }, 'http://mirror.example/ubuntu'))
        expect(source).toMatch(/^deb http:\/\/mirror\.example\/ubuntu noble(-updates)? /);
      for (const vendor of vendors) expect(vendor.keyFingerprint).toMatch(/^[0-9A-F]{40}$/);
    }
  });

  it('are part of the signed statement: another recipe has another digest', () => {
    expect(new Set(all.map(([name]) => recipeDigest(name))).size).toBe(all.length);
  });

  it('are finished by a valid shell script', () => {
    execFileSync('sh', ['-n', fileURLToPath(new URL('finish-root.sh', import.meta.url))]);
  });
});
