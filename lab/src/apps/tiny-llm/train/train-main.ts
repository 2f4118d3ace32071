import { writeFile } from 'node:fs/promises';
import { LanguageModel } from '../model/language-model.ts';
import { readModel, writeModel } from '../model/model-file.ts';
import { trainTables } from '../model/train-tables.ts';
import { Tokenizer } from '../tokenizer/tokenizer.ts';
import { readCorpus } from './corpus.ts';
import { SEED, tokenise, TRAINING, trainModel } from './train-model.ts';

/** Trains the model on the repository's documents, writes `data/model.bin`, and prints its held-out perplexity. */
const started = performance.now();
const { training, heldOut } = await readCorpus(SEED);
const file = writeModel(trainModel(training, TRAINING));
await writeFile(new URL('../data/model.bin', import.meta.url), file);

const trained = readModel(file);
const tokenizer = new Tokenizer(trained.merges);
const unseen = tokenise(heldOut, tokenizer);
const model = new LanguageModel(trained, tokenizer.size);
const baseline = new LanguageModel(trainTables(tokenise(training, tokenizer), 1), tokenizer.size);
process.stdout.write(
  `${JSON.stringify({
    seconds: Math.round((performance.now() - started) / 100) / 10,
    file_bytes: file.length,
    training_paragraphs: training.length,
    held_out_paragraphs: heldOut.length,
    held_out_perplexity: model.perplexity(unseen),
    unigram_perplexity: baseline.perplexity(unseen),
  })}\n`,
);
