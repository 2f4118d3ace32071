import { expect, it } from 'vitest';
import { parseTags, tagsError } from './tags.ts';

it('parses tags with any separator, each once', () => {
  expect(parseTags(' team=nlp, training  training\n')).toEqual(['team=nlp', 'training']);
  expect(parseTags('')).toEqual([]);
});

it('names an invalid tag, and reports too many', () => {
  expect(tagsError('team=nlp')).toBeNull();
  expect(tagsError('team=nlp Team')).toContain('“Team”');
  expect(tagsError(Array.from({ length: 11 }, (_, n) => `t${n}`).join(' '))).toContain('10');
});
