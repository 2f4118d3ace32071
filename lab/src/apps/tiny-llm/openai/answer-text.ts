import type { ServerResponse } from 'node:http';
import { AppRefusal } from '../../web/app-refusal.ts';
import { EventStream } from '../../web/event-stream.ts';
import { sendJson } from '../../web/serve-app.ts';
import { generateText, type GeneratedPiece } from '../generate-text.ts';
import type { LanguageModel } from '../model/language-model.ts';
import { seededDraws } from '../sample-token.ts';
import { topicOf } from '../topic.ts';
import type { Tokenizer } from '../tokenizer/tokenizer.ts';
import { ResponseBodies, usageOf, type ChoiceText, type Endpoint, type Usage } from './bodies.ts';
import type { TextRequest } from './read-request.ts';

const MAX_PROMPT_TOKENS = 8192;
const LEAST_ANSWER_TOKENS = 16;

export interface Engine {
  model: LanguageModel;
  tokenizer: Tokenizer;
  tokensPerSecond: number | null;
}

/** Called once for each answer, before its last byte or when the client is gone. */
export type RecordUsage = (usage: Usage) => Promise<void>;

export interface AnswerContext {
  engine: Engine;
  endpoint: Endpoint;
  record: RecordUsage;
  /** Aborts when the client is gone. */
  signal: AbortSignal;
}

interface Piece extends GeneratedPiece {
  choice: number;
}

/** Generates every choice and sends it, as one body or as a stream. What was generated counts, even if the client left. */
export async function answerText(
  context: AnswerContext,
  request: TextRequest,
  response: ServerResponse,
): Promise<void> {
  const { engine, endpoint, record, signal } = context;
  const prompts = request.prompts.map((prompt) => engine.tokenizer.encode(prompt));
  const promptTokens = prompts.reduce((sum, tokens) => sum + tokens.length, 0);
  if (promptTokens > MAX_PROMPT_TOKENS)
    throw new AppRefusal(
      400,
      'context_length_exceeded',
      `The request has ${promptTokens} tokens; this model takes ${MAX_PROMPT_TOKENS}.`,
      endpoint === 'chat' ? 'messages' : 'prompt',
    );
  const spent = prompts.flatMap(() => Array.from({ length: request.choices }, () => 0));
  let isRecorded = false;
  const settle = async (): Promise<Usage> => {
    const completion = spent.reduce((sum, tokens) => sum + tokens, 0);
    const usage = usageOf(promptTokens, completion);
    if (!isRecorded) {
      isRecorded = true;
      await record(usage);
    }
    return usage;
  };
  const bodies = new ResponseBodies(endpoint, new Date());
  const pieces = counted(spent, generateAll(engine, request, endpoint === 'chat', prompts, signal));
  try {
    if (!request.stream) {
      const choices = await collect(pieces, spent.length);
      return sendJson(response, 200, bodies.whole(choices, await settle()));
    }
    await sendStream(new EventStream(response), bodies, pieces, request.includeUsage, settle);
  } finally {
    await settle();
  }
}

async function sendStream(
  stream: EventStream,
  bodies: ResponseBodies,
  pieces: AsyncIterable<Piece>,
  includeUsage: boolean,
  settle: () => Promise<Usage>,
): Promise<void> {
  const begun = new Set<number>();
  for await (const { choice, text, finish } of pieces) {
    await stream.send(JSON.stringify(bodies.chunk({ index: choice, text, finish }, !begun.has(choice))));
    begun.add(choice);
  }
  const usage = await settle();
  if (includeUsage) await stream.send(JSON.stringify(bodies.usageChunk(usage)));
  await stream.send('[DONE]');
  stream.end();
}

async function* counted(spent: number[], pieces: AsyncIterable<Piece>): AsyncGenerator<Piece> {
  for await (const piece of pieces) {
    spent[piece.choice] = piece.tokens;
    yield piece;
  }
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

async function collect(pieces: AsyncIterable<Piece>, count: number): Promise<ChoiceText[]> {
  const choices = Array.from({ length: count }, (_, index): ChoiceText => ({
    index,
    text: '',
    finish: null,
  }));
  for await (const { choice, text, finish } of pieces) {
    const target = choices[choice];
    if (!target) continue;
    target.text += text;
    target.finish = finish;
  }
  return choices;
}
