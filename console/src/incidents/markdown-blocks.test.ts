import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { markdownBlocks } from './markdown-blocks.ts';

test('splits headings, paragraphs, lists and code', () => {
  const text = '# Title\n\n**What.** One\ntwo.\n\n## Do\n1. first\n   more\n2. second\n\n```\nls -l\n```\n';
  expect(markdownBlocks(text)).toEqual([
    { kind: 'paragraph', text: '**What.** One two.' },
    { kind: 'heading', text: 'Do' },
    { kind: 'list', ordered: true, items: ['first more', 'second'] },
    { kind: 'code', text: 'ls -l' },
  ]);
});

test('every runbook has checks and actions', () => {
  const folder = new URL('../../../docs/runbooks/', import.meta.url);
  for (const name of readdirSync(folder)) {
    const blocks = markdownBlocks(readFileSync(new URL(name, folder), 'utf8'));
    const headings = blocks.filter(({ kind }) => kind === 'heading');
    expect(headings.length, name).toBeGreaterThanOrEqual(2);
    expect(
      blocks.some(({ kind }) => kind === 'list'),
      name,
    ).toBe(true);
  }
});
