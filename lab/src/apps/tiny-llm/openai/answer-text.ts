import type { ServerResponse } from 'node:http';
import { AppRefusal } from '../../web/app-refusal.ts';
import { EventStream } from '../../web/event-stream.ts';
import { sendJson } from '../../web/serve-app.ts';
import { generateText, type GeneratedPiece } from '../generate-text.ts';
import type { LanguageModel } from '../model/language-model.ts';
import { seededDraws } from '../sample-token.ts';
import { topicOf } from '../topic.ts';
import type { Tokenizer } from '../tokenizer/tokenizer.ts';
import { ResponseBodies, usageOf, type ChoiceText, type Endpoint } from './bodies.ts';
import type { TextRequest } from './read-request.ts';

const MAX_PROMPT_TOKENS = 8192;
const LEAST_ANSWER_TOKENS = 16;

export interface Engine {
  model: LanguageModel;
  tokenizer: Tokenizer;
  tokensPerSecond: number | null;
}

interface Piece extends GeneratedPiece {
  choice: number;
}

/** Generates every choice and sends it, as one body or as a stream. Ends early when the client is gone. */
export async function answerText(
  engine: Engine,
  endpoint: Endpoint,
  request: TextRequest,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const prompts = request.prompts.map((prompt) => engine.tokenizer.encode(prompt));
  const promptTokens = prompts.reduce((sum, tokens) => sum + tokens.length, 0);
  if (promptTokens > MAX_PROMPT_TOKENS)
    throw new AppRefusal(
      400,
      'context_length_exceeded',
      `The request has ${promptTokens} tokens; this model takes ${MAX_PROMPT_TOKENS}.`,
      endpoint === 'chat' ? 'messages' : 'prompt',
    );
  const bodies = new ResponseBodies(endpoint, new Date());
  const pieces = generateAll(engine, request, endpoint === 'chat', prompts, signal);
  if (!request.stream) {
    const choices = prompts.flatMap(() => Array.from({ length: request.choices })).map(emptyChoice);
    const used = await collect(pieces, choices);
    return sendJson(response, 200, bodies.whole(choices, usageOf(promptTokens, used)));
  }
  const stream = new EventStream(response);
  const begun = new Set<number>();
  let used = 0;
  for await (const { choice, text, finish, tokens } of pieces) {
    await stream.send(JSON.stringify(bodies.chunk({ index: choice, text, finish }, !begun.has(choice))));
    begun.add(choice);
    if (finish !== null) used += tokens;
  }
  if (request.includeUsage) await stream.send(JSON.stringify(bodies.usageChunk(usageOf(promptTokens, used))));
  await stream.send('[DONE]');
  stream.end();
}

async function* generateAll(
  engine: Engine,
  request: TextRequest,
  chat: boolean,
  prompts: readonly (readonly number[])[],
  signal: AbortSignal,
): AsyncGenerator<Piece> {
  const { temperature, topP, maxTokens, stops } = request;
  const { tokensPerSecond, tokenizer } = engine;
  let choice = 0;
  for (const prompt of prompts)
    for (let copy = 0; copy < request.choices; copy += 1) {
      const draw = seededDraws(request.seed + copy);
      const options = {
        // An answer is a new text; a completion goes on with the text of the caller.
        prompt: chat || prompt.length === 0 ? [tokenizer.end] : prompt,
        leastTokens: chat ? LEAST_ANSWER_TOKENS : 0,
        topic: chat ? topicOf(tokenizer, prompt) : [],
        ...{ temperature, topP, maxTokens, stops, draw, signal, tokensPerSecond },
      };
      for await (const piece of generateText(engine, options)) yield { ...piece, choice };
      choice += 1;
    }
}

const emptyChoice = (_: unknown, index: number): ChoiceText => ({ index, text: '', finish: null });

/** Returns the number of generated tokens. */
async function collect(pieces: AsyncIterable<Piece>, choices: readonly ChoiceText[]): Promise<number> {
  let used = 0;
  for await (const { choice, text, finish, tokens } of pieces) {
    const target = choices[choice];
    if (!target) continue;
    target.text += text;
    target.finish = finish;
    if (finish !== null) used += tokens;
  }
  return used;
}
