import { LanguageModel } from './model/language-model.ts';
import { readModel } from './model/model-file.ts';
import type { Engine } from './openai/answer-text.ts';
import { Tokenizer } from './tokenizer/tokenizer.ts';

/** `tokensPerSecond` is null for as fast as possible. */
export function openEngine(file: Buffer, tokensPerSecond: number | null): Engine {
  const trained = readModel(file);
  const tokenizer = new Tokenizer(trained.merges);
  return { model: new LanguageModel(trained, tokenizer.size), tokenizer, tokensPerSecond };
}
