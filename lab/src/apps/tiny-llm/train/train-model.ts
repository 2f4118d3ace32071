import type { TrainedModel } from '../model/model-file.ts';
import { trainTables } from '../model/train-tables.ts';
import { trainMerges } from '../tokenizer/byte-pairs.ts';
import { Tokenizer } from '../tokenizer/tokenizer.ts';

export interface TrainingOptions {
  merges: number;
  /** Tokens of a run: the context and the token after it. */
  order: number;
}

/** The committed model was trained with these. */
export const TRAINING: TrainingOptions = { merges: 767, order: 5 };
export const SEED = 21;

/** The same texts and options give the same model. */
export function trainModel(texts: readonly string[], options: TrainingOptions): TrainedModel {
  const merges = trainMerges(texts, options.merges);
  const tokenizer = new Tokenizer(merges);
  return { merges, ...trainTables(tokenise(texts, tokenizer), options.order) };
}

/** Each text between two end tokens, so that the model knows how texts begin and end. */
export function tokenise(texts: readonly string[], tokenizer: Tokenizer): number[][] {
  return texts.map((text) => [tokenizer.end, ...tokenizer.encode(text), tokenizer.end]);
}
