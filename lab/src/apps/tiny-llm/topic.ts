import type { Tokenizer } from './tokenizer/tokenizer.ts';

const BOOST = 30;
const WORD = /^ ?\p{L}{4,}$/u;

/**
 * The model looks back over a few tokens only, so an answer would not depend on the question. Tokens of the question that
 * are whole words become more probable wherever the model thinks they fit.
 */
export function topicOf(tokenizer: Tokenizer, prompt: readonly number[]): number[] {
  return [...new Set(prompt)].filter((token) => WORD.test(tokenizer.decode([token])));
}

/** The sum stays 1. */
export function boostTopic(probabilities: Float64Array, topic: readonly number[]): Float64Array {
  let sum = 1;
  for (const token of topic) sum += (BOOST - 1) * (probabilities[token] ?? 0);
  const boosted = probabilities.map((probability) => probability / sum);
  for (const token of topic) boosted[token] = BOOST * (boosted[token] ?? 0);
  return boosted;
}
