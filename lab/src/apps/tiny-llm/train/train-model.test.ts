import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { LanguageModel } from '../model/language-model.ts';
import { readModel, writeModel } from '../model/model-file.ts';
import { trainTables } from '../model/train-tables.ts';
import { Tokenizer } from '../tokenizer/tokenizer.ts';
import { paragraphsOf, readCorpus } from './corpus.ts';
import { SEED, tokenise, trainModel } from './train-model.ts';

const committed = new URL('../data/model.bin', import.meta.url);

describe('training', () => {
  it('gives the same bytes for the same texts, and other bytes for others', async () => {
    const { training } = await readCorpus(SEED);
    const options = { merges: 100, order: 3 };
    const first = writeModel(trainModel(training.slice(0, 60), options));
    expect(writeModel(trainModel(training.slice(0, 60), options)).equals(first)).toBe(true);
    expect(writeModel(trainModel(training.slice(0, 61), options)).equals(first)).toBe(false);
    expect(writeModel(readModel(first)).equals(first)).toBe(true);
  });

  it('holds other paragraphs out for another seed, and trains on none of them', async () => {
    const first = await readCorpus(SEED);
    const other = await readCorpus(SEED + 1);
    expect(first.heldOut.length).toBeGreaterThan(20);
    expect(other.heldOut).not.toEqual(first.heldOut);
    expect(first.training.filter((text) => first.heldOut.includes(text))).toEqual([]);
  });

  it('takes prose out of documents', () => {
    const text =
      '# Title\n\nA *long* sentence with a [link](x.md) that is\nwrapped here.\n\n```\ncode\n```\n\n| a | b |\n';
    expect(paragraphsOf(text)).toEqual(['A long sentence with a link that is wrapped here.']);
  });
});

describe('the committed model', () => {
  it('is small, and predicts unseen paragraphs far better than word frequencies do', async () => {
    const file = await readFile(committed);
    expect(file.length).toBeLessThan(1_000_000);
    const trained = readModel(file);
    const tokenizer = new Tokenizer(trained.merges);
    const { training, heldOut } = await readCorpus(SEED);
    const unseen = tokenise(heldOut, tokenizer);
    const unigram = new LanguageModel(trainTables(tokenise(training, tokenizer), 1), tokenizer.size);
    const perplexity = new LanguageModel(trained, tokenizer.size).perplexity(unseen);
    expect(perplexity).toBeGreaterThan(1);
    expect(perplexity).toBeLessThan(unigram.perplexity(unseen) / 3);
  });

  it('gives probabilities that add up to 1, also after what it never saw', async () => {
    const trained = readModel(await readFile(committed));
    const tokenizer = new Tokenizer(trained.merges);
    const model = new LanguageModel(trained, tokenizer.size);
    for (const text of ['', 'The host', 'zzzz qqqq', '🚀🚀', 'A slice of the']) {
      const next = model.next(tokenizer.encode(text));
      expect(next.every((probability) => probability > 0)).toBe(true);
      expect(next.reduce((sum, probability) => sum + probability, 0)).toBeCloseTo(1, 9);
    }
  });

  it('has tokens for every text', async () => {
    const tokenizer = new Tokenizer(readModel(await readFile(committed)).merges);
    for (const text of ['', 'The host was cordoned.', 'Grüße 🚀\n\t\0', 'x'.repeat(10_000)]) {
      const tokens = tokenizer.encode(text);
      expect(tokenizer.decode(tokens)).toBe(text);
      expect(tokens.every((token) => token < tokenizer.end)).toBe(true);
    }
    expect(tokenizer.encode('The host was cordoned.').length).toBeLessThan(12);
  });

  it('is refused if the file is cut off', async () => {
    const file = await readFile(committed);
    expect(() => readModel(file.subarray(0, 1000))).toThrow();
  });
});
