import { randomUUID } from 'node:crypto';
import { MODEL } from './read-request.ts';

export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

export interface ChoiceText {
  index: number;
  text: string;
  finish: 'stop' | 'length' | null;
}

/** The two endpoints answer in different shapes. */
export type Endpoint = 'chat' | 'completion';

/** Bodies of one response; all have its id. */
export class ResponseBodies {
  readonly #endpoint: Endpoint;
  readonly #common: { id: string; created: number; model: string };

  constructor(endpoint: Endpoint, now: Date) {
    const id = `${endpoint === 'chat' ? 'chatcmpl' : 'cmpl'}-${randomUUID()}`;
    this.#endpoint = endpoint;
    this.#common = { id, created: Math.floor(now.getTime() / 1000), model: MODEL };
  }

  whole(choices: readonly ChoiceText[], usage: Usage): object {
    return { ...this.#common, object: this.#object(), choices: choices.map((c) => this.#choice(c)), usage };
  }

  chunk({ index, text, finish }: ChoiceText, first: boolean): object {
    const delta = { ...(first ? { role: 'assistant' } : {}), ...(text === '' ? {} : { content: text }) };
    const choice =
      this.#endpoint === 'chat'
        ? { index, delta, finish_reason: finish, logprobs: null }
        : { index, text, finish_reason: finish, logprobs: null };
    return { ...this.#common, object: this.#object('.chunk'), choices: [choice] };
  }

  /** The last chunk of a stream that asked for it. */
  usageChunk(usage: Usage): object {
    return { ...this.#common, object: this.#object('.chunk'), choices: [], usage };
  }

  #choice({ index, text, finish }: ChoiceText): object {
    if (this.#endpoint === 'completion') return { index, text, finish_reason: finish, logprobs: null };
    const message = { role: 'assistant', content: text, refusal: null };
    return { index, message, finish_reason: finish, logprobs: null };
  }

  #object(chunk = ''): string {
    return this.#endpoint === 'chat' ? `chat.completion${chunk}` : 'text_completion';
  }
}

export function usageOf(prompt: number, completion: number): Usage {
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}
