import { randomInt } from 'node:crypto';
import { isRecord } from '@gpuaas/contracts/is-record';
import { AppRefusal } from '../../web/app-refusal.ts';
import type { Sampling } from '../sample-token.ts';
import { booleanField, invalid, numberField, refuseUnsupported, stopField } from './fields.ts';

export const MODEL = 'tiny-llm';
const MAX_TOKENS = 1024;
const ROLES = ['system', 'developer', 'user', 'assistant'];
const UNSUPPORTED = ['tools', 'functions', 'tool_choice', 'logprobs', 'top_logprobs', 'logit_bias', 'audio'];

export interface TextRequest extends Sampling {
  /** Each gets `choices` answers. */
  prompts: string[];
  choices: number;
  maxTokens: number;
  stops: string[];
  seed: number;
  stream: boolean;
  includeUsage: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** `POST /v1/chat/completions`. The conversation is one prompt. */
export function readChatRequest(fields: Fields): TextRequest {
  refuseUnsupported(fields, UNSUPPORTED);
  const format = fields['response_format'];
  if (isRecord(format) && format['type'] !== 'text')
    throw invalid('response_format', 'This model only writes text.', 'unsupported_parameter');
  const messages = fields['messages'];
  if (!Array.isArray(messages) || messages.length === 0 || messages.length > 200)
    throw invalid(
      'messages',
      "'messages' must be a list of 1 to 200 messages.",
      'missing_required_parameter',
    );
  const text = messages.map((message: unknown, index) => readMessage(message, `messages[${index}]`));
  const limit = fields['max_completion_tokens'] === undefined ? 'max_tokens' : 'max_completion_tokens';
  return { ...readCommon(fields, limit), prompts: [text.join('\n\n')] };
}

/** `POST /v1/completions`. */
export function readCompletionRequest(fields: Fields): TextRequest {
  refuseUnsupported(fields, [...UNSUPPORTED, 'echo', 'suffix', 'best_of']);
  const prompt = fields['prompt'] ?? '';
  const prompts: unknown[] = Array.isArray(prompt) ? prompt : [prompt];
  if (prompts.length === 0 || prompts.length > 16)
    throw invalid('prompt', "'prompt' must be a string or a list of 1 to 16 strings.");
  return {
    ...readCommon(fields, 'max_tokens'),
    prompts: prompts.map((text) => {
      if (typeof text !== 'string')
        throw invalid('prompt', "'prompt' must be a string or a list of strings.", 'invalid_type');
      return text;
    }),
  };
}

function readCommon(fields: Fields, limit: string): Omit<TextRequest, 'prompts'> {
  const model = fields['model'];
  if (typeof model !== 'string')
    throw invalid('model', "You must name a 'model'.", 'missing_required_parameter');
  if (model !== MODEL)
    throw new AppRefusal(
      404,
      'model_not_found',
      `The model '${model.slice(0, 100)}' does not exist.`,
      'model',
    );
  const stream = booleanField(fields, 'stream');
  const options = fields['stream_options'] ?? {};
  if (!isRecord(options) || (!stream && fields['stream_options'] != null))
    throw invalid('stream_options', "'stream_options' is an object, and only for streams.");
  const most = Number.MAX_SAFE_INTEGER;
  return {
    temperature: numberField(fields, 'temperature', { least: 0, most: 2, otherwise: 0.5 }),
    topP: numberField(fields, 'top_p', { least: 0, most: 1, otherwise: 1 }),
    choices: numberField(fields, 'n', { least: 1, most: 4, otherwise: 1, whole: true }),
    maxTokens: numberField(fields, limit, { least: 1, most: MAX_TOKENS, otherwise: 128, whole: true }),
    seed: numberField(fields, 'seed', { least: -most, most, otherwise: randomInt(2 ** 32), whole: true }),
    stops: stopField(fields),
    stream,
    includeUsage: booleanField(options, 'include_usage'),
  };
}

function readMessage(message: unknown, param: string): string {
  if (!isRecord(message)) throw invalid(param, 'A message must be an object.', 'invalid_type');
  const { role, content } = message;
  if (typeof role !== 'string' || !ROLES.includes(role))
    throw invalid(`${param}.role`, `The role must be one of ${ROLES.join(', ')}.`);
  if (typeof content === 'string') return content;
  const parts: unknown[] = Array.isArray(content) ? content : [null];
  return parts
    .map((part) => {
      if (isRecord(part) && part['type'] === 'text' && typeof part['text'] === 'string') return part['text'];
      throw invalid(`${param}.content`, 'The content must be a string or a list of text parts.');
    })
    .join('');
}
