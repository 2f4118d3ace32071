import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LONGEST } from '../setup/longest-first.ts';
import { filesIn, ROOT } from './source-files.ts';

const SAYS_NOTHING = /(^|[-_.])(utils?|helpers?|common|misc|managers?)([-_.]|$)/;
const MAX_LINES = 500;
const MAX_SOURCES = 25;
/** Folders that hold more, from before the rule. The list can only shrink. */
const CROWDED: readonly string[] = [];

const sources = filesIn('', '.ts', '.tsx').filter(({ path }) => !path.includes('/generated/'));
const thisFile = 'tests/repository/tree.test.ts';

describe('the tree', () => {
  it('has names that say what is in them', () => {
    const vague = sources.filter(({ path }) => path.split('/').some((part) => SAYS_NOTHING.test(part)));
    expect(vague.map(({ path }) => path)).toEqual([]);
  });

  it(`has no source file over ${MAX_LINES} lines`, () => {
    const long = sources.filter(({ text }) => text.split('\n').length > MAX_LINES);
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  it(`has no folder with more than ${MAX_SOURCES} source files at one level`, () => {
    const counted = sources.filter(({ path }) => path.startsWith('tests/') || !path.includes('.test.'));
    const crowded = [...Map.groupBy(counted, ({ path }) => dirname(path))]
      .filter(([, files]) => files.length > MAX_SOURCES)
      .map(([folder]) => folder);
    expect(crowded.toSorted()).toEqual(CROWDED);
  });

  it('has the files that tests begin with', () => {
    expect(LONGEST.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('has no way around the type checker', () => {
    const around =
      /(:|\bas|<|\|)\s*any\b(?!\w)|@ts-(ignore|expect-error|nocheck)|\beslint-disable\b|\boxlint-disable\b/;
    const found = sources
      .filter(({ path }) => path !== thisFile)
      .flatMap(({ path, text }) =>
        text.split('\n').flatMap((line, index) => {
          const code = line.replace(/\/\/.*$|^\s*\*.*$|'[^']*'|`[^`]*`/g, (part) =>
            part.includes('@ts-') ? part : '',
          );
          return around.test(code) ? [`${path}:${index + 1}: ${line.trim()}`] : [];
        }),
      );
    expect(found).toEqual([]);
  });

  it('has no test that is left out or alone', () => {
    const tests = sources.filter(({ path }) => path.includes('.test.') && path !== thisFile);
    const left = /\b(?:it|test|describe)\.(?:only|skip|todo)\b/;
    expect(tests.filter(({ text }) => left.test(text)).map(({ path }) => path)).toEqual([]);
  });

  it('names what a test that may be left out needs', () => {
    const conditional = /\.(?:skipIf|runIf)\([^\n]*?\)\(\s*(['"`])(.*?)\1/g;
    const unnamed = sources
      .filter(({ path }) => path.includes('.test.') && path !== thisFile)
      .flatMap(({ path, text }) =>
        [...text.matchAll(conditional)].map(([, , title]) => ({ path, title: title! })),
      )
      .filter(({ title }) => !title.includes('(needs ') && !title.includes('${'));
    expect(unnamed).toEqual([]);
  });

  it('has documents whose links lead somewhere', () => {
    const broken = filesIn('', '.md').flatMap(({ path, text }) => {
      const prose = text.replaceAll(/```[\s\S]*?```/g, '');
      return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, target]) => target!)
        .filter((target) => !/^(https?:|mailto:|#)/.test(target))
        .filter((target) => !existsSync(join(ROOT, dirname(path), target.split('#')[0]!)))
        .map((target) => `${basename(path)}: ${target}`);
    });
    expect(broken).toEqual([]);
  });
});
