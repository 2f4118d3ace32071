import { expect, it } from 'vitest';
import { tagsIn, tagsRefusal } from './tags.ts';

it('reads tags however they are set apart, each once', () => {
  expect(tagsIn(' team=nlp, training  training\n')).toEqual(['team=nlp', 'training']);
  expect(tagsIn('')).toEqual([]);
});

it('says which tag cannot be used, and when there are too many', () => {
  expect(tagsRefusal('team=nlp')).toBeNull();
  expect(tagsRefusal('team=nlp Team')).toContain('“Team”');
  expect(tagsRefusal(Array.from({ length: 11 }, (_, n) => `t${n}`).join(' '))).toContain('10');
});
