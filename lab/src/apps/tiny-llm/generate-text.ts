import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { LanguageModel } from './model/language-model.ts';
import { sampleToken, type Sampling } from './sample-token.ts';
import { StopFilter } from './stop-filter.ts';
import { boostTopic } from './topic.ts';
import type { Tokenizer } from './tokenizer/tokenizer.ts';

export interface Generation extends Sampling {
  prompt: readonly number[];
  /** Tokens that the text should be about. */
  topic: readonly number[];
  /** The text does not end before, unless a stop sequence ends it. */
  leastTokens: number;
  maxTokens: number;
  stops: readonly string[];
  draw: () => number;
  signal: AbortSignal;
  /** Null for as fast as possible. */
  tokensPerSecond: number | null;
}

export interface GeneratedPiece {
  text: string;
  /** Tokens so far. */
  tokens: number;
  finish: 'stop' | 'length' | null;
}

/** One piece for each token that completes some text, and a last one that says why it ended. */
export async function* generateText(
  { model, tokenizer }: { model: LanguageModel; tokenizer: Tokenizer },
  generation: Generation,
): AsyncGenerator<GeneratedPiece> {
  const before = [...generation.prompt];
  const stops = new StopFilter(generation.stops);
  // A character may take several tokens; the decoder waits for its last byte.
  const decoder = new TextDecoder();
  let tokens = 0;
  while (tokens < generation.maxTokens) {
    await (generation.tokensPerSecond ? pause(1000 / generation.tokensPerSecond) : nextTurn());
    generation.signal.throwIfAborted();
    const probabilities = boostTopic(model.next(before.slice(-model.contextLength)), generation.topic);
    if (tokens < generation.leastTokens) probabilities[tokenizer.end] = 0;
    const token = sampleToken(probabilities, generation, generation.draw());
    if (token === tokenizer.end) return yield { text: stops.flush(), tokens, finish: 'stop' };
    tokens += 1;
    before.push(token);
    const text = stops.push(decoder.decode(tokenizer.bytesOf(token), { stream: true }));
    if (stops.stopped) return yield { text, tokens, finish: 'stop' };
    if (text !== '') yield { text, tokens, finish: null };
  }
  yield { text: stops.push(decoder.decode()) + stops.flush(), tokens, finish: 'length' };
}
