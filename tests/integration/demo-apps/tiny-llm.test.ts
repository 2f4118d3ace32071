import { connect } from 'node:net';
import { once } from 'node:events';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type AppProcess } from '../../harness/demo-apps/app-process.ts';

const KEY = 'a key of the test';
const MODEL = 'tiny-llm';
let app: AppProcess;
let openai: OpenAI;

beforeAll(async () => {
  app = await startApp('tiny-llm', { PARAM_API_KEY: KEY });
  openai = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: KEY });
});
afterAll(async () => await app?.stop());

const messages: OpenAI.ChatCompletionMessageParam[] = [
  { role: 'system', content: 'Answer in one sentence.' },
  { role: 'user', content: [{ type: 'text', text: 'What happens when a host fails?' }] },
];

describe('tiny-llm, with the client of OpenAI', () => {
  it('lists its model', async () => {
    const listed: string[] = [];
    for await (const { id } of openai.models.list()) listed.push(id);
    expect(listed).toEqual([MODEL]);
    expect(await openai.models.retrieve(MODEL)).toMatchObject({ id: MODEL, object: 'model' });
    await expect(openai.models.retrieve('gpt')).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  it('completes chats, counts tokens, and repeats itself for a seed', async () => {
    const ask = (seed: number) =>
      openai.chat.completions.create({ model: MODEL, messages, seed, max_tokens: 40, temperature: 1 });
    const [first, same, other] = [await ask(1), await ask(1), await ask(2)];
    const { message, finish_reason } = first.choices[0]!;
    expect(message.role).toBe('assistant');
    expect(message.content!.length).toBeGreaterThan(10);
    expect(['stop', 'length']).toContain(finish_reason);
    const usage = first.usage!;
    expect(usage.prompt_tokens).toBeGreaterThan(5);
    expect(usage.completion_tokens).toBeGreaterThan(0);
    expect(usage.completion_tokens).toBeLessThanOrEqual(40);
    expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
    expect(same.choices[0]!.message.content).toBe(message.content);
    expect(other.choices[0]!.message.content).not.toBe(message.content);
  });

  it('streams the same text that it sends whole, with usage if it is asked for', async () => {
    const request = { model: MODEL, messages, seed: 5, max_tokens: 60 };
    const whole = await openai.chat.completions.create(request);
    const stream = await openai.chat.completions.create({
      ...request,
      stream: true,
      stream_options: { include_usage: true },
    });
    let streamed = '';
    let chunks = 0;
    const finishes: (string | null)[] = [];
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream) {
      expect(chunk.object).toBe('chat.completion.chunk');
      chunks += 1;
      streamed += chunk.choices[0]?.delta.content ?? '';
      if (chunk.choices[0]) finishes.push(chunk.choices[0].finish_reason);
      usage = chunk.usage;
    }
    expect(streamed).toBe(whole.choices[0]!.message.content);
    expect(chunks).toBeGreaterThan(3);
    expect(finishes.filter((finish) => finish !== null)).toEqual([whole.choices[0]!.finish_reason]);
    expect(usage).toEqual(whole.usage);
    const plain = await openai.chat.completions.create({ ...request, stream: true });
    for await (const chunk of plain) expect(chunk.usage).toBeUndefined();
  });

  it('completes prompts, several together and several times', async () => {
    const answer = await openai.completions.create({
      model: MODEL,
      prompt: ['The host', 'A slice'],
      n: 2,
      seed: 1,
      max_tokens: 12,
    });
    expect(answer.object).toBe('text_completion');
    expect(answer.choices.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    expect(answer.choices.every(({ text }) => typeof text === 'string')).toBe(true);
    const stream = await openai.completions.create({
      model: MODEL,
      prompt: 'The host',
      max_tokens: 8,
      stream: true,
    });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.text ?? '';
    expect(text.length).toBeGreaterThan(0);
  });

  it('ends at a stop sequence, which it does not send, also in a stream', async () => {
    const request = { model: MODEL, prompt: 'The platform', seed: 3, max_tokens: 100, temperature: 0.9 };
    const { text } = (await openai.completions.create(request)).choices[0]!;
    const stop = text.slice(8, 14);
    const stopped = (await openai.completions.create({ ...request, stop })).choices[0]!;
    expect(stopped).toMatchObject({ text: text.slice(0, text.indexOf(stop)), finish_reason: 'stop' });
    let streamed = '';
    for await (const chunk of await openai.completions.create({
      ...request,
      stop: ['never', stop],
      stream: true,
    }))
      streamed += chunk.choices[0]!.text;
    expect(streamed).toBe(stopped.text);
  });

  it('takes the most probable tokens at temperature 0, and ends at max_tokens', async () => {
    const request = { model: MODEL, prompt: 'The host', temperature: 0, max_tokens: 6 };
    const answers = [await openai.completions.create(request), await openai.completions.create(request)];
    expect(answers[0]!.choices[0]!.text).toBe(answers[1]!.choices[0]!.text);
    const long = await openai.chat.completions.create({ model: MODEL, messages, max_completion_tokens: 3 });
    expect(long.usage!.completion_tokens).toBe(3);
    expect(long.choices[0]!.finish_reason).toBe('length');
  });

  it('refuses with typed errors that name the field', async () => {
    const create = (change: object) =>
      openai.chat.completions.create({
        model: MODEL,
        messages,
        max_tokens: 4,
        ...change,
      } as OpenAI.ChatCompletionCreateParamsNonStreaming);
    const cases: [object, number, string, string | null][] = [
      [{ model: 'gpt-9' }, 404, 'model_not_found', 'model'],
      [{ temperature: 3 }, 400, 'invalid_value', 'temperature'],
      [{ max_tokens: 0 }, 400, 'invalid_value', 'max_tokens'],
      [{ max_tokens: 1.5 }, 400, 'invalid_value', 'max_tokens'],
      [{ n: 100 }, 400, 'invalid_value', 'n'],
      [{ messages: [] }, 400, 'missing_required_parameter', 'messages'],
      [{ messages: [{ role: 'robot', content: 'x' }] }, 400, 'invalid_value', 'messages[0].role'],
      [{ messages: [{ role: 'user', content: 5 }] }, 400, 'invalid_value', 'messages[0].content'],
      [{ stop: ['a', 'b', 'c', 'd', 'e'] }, 400, 'array_above_max_length', 'stop'],
      [{ stop: '' }, 400, 'invalid_value', 'stop'],
      [{ tools: [{}] }, 400, 'unsupported_parameter', 'tools'],
      [{ response_format: { type: 'json_object' } }, 400, 'unsupported_parameter', 'response_format'],
      [{ stream_options: { include_usage: true } }, 400, 'invalid_value', 'stream_options'],
      [
        { messages: [{ role: 'user', content: 'word '.repeat(20_000) }] },
        400,
        'context_length_exceeded',
        'messages',
      ],
    ];
    for (const [change, status, code, param] of cases) {
      const error = await create(change).catch((caught: unknown) => caught);
      expect(error, code).toBeInstanceOf(OpenAI.APIError);
      expect(error).toMatchObject({ status, code, param, type: 'invalid_request_error' });
    }
    const stranger = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: 'wrong' });
    await expect(stranger.models.list()).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' });
    await expect(stranger.models.list()).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
  });

  it('refuses bodies that are no JSON or too large', async () => {
    const post = (body: string) =>
      fetch(`${app.url}/v1/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}` },
        body,
      });
    const broken = await post('{"model"');
    expect([broken.status, await broken.json()]).toMatchObject([400, { error: { code: 'invalid_json' } }]);
    expect((await post(JSON.stringify({ model: MODEL, prompt: 'x'.repeat(300_000) }))).status).toBe(413);
    expect(
      (await fetch(`${app.url}/v1/embeddings`, { headers: { authorization: `Bearer ${KEY}` } })).status,
    ).toBe(404);
    expect((await fetch(`${app.url}/health`)).status).toBe(200);
  });
});

describe('tiny-llm under load', () => {
  it('serves as many as it may, lets some wait, refuses the rest, and forgets clients that leave', async () => {
    const slow = await startApp('tiny-llm', {
      PARAM_CONCURRENCY: '1',
      PARAM_QUEUE: '1',
      PARAM_TOKENS_PER_SECOND: '20',
    });
    try {
      const ask = (signal?: AbortSignal) =>
        new OpenAI({ baseURL: `${slow.url}/v1`, apiKey: '-', maxRetries: 0 }).chat.completions.create(
          { model: MODEL, messages, max_tokens: 1000, stream: true },
          { ...(signal ? { signal } : {}) },
        );
      const leave = new AbortController();
      const stream = await ask(leave.signal);
      const reading = (async () => {
        for await (const _ of stream);
      })().catch(() => undefined);
      const patient = ask();
      // The second waits for its turn; only then is there no place for a third.
      await expect
        .poll(
          async () =>
            await ask(AbortSignal.timeout(300)).then(
              () => 'served',
              (error: unknown) => (error instanceof OpenAI.RateLimitError ? 'refused' : 'waited'),
            ),
        )
        .toBe('refused');
      leave.abort();
      await reading;
      const next = await patient;
      next.controller.abort();
      const last = await ask();
      last.controller.abort();
    } finally {
      await slow.stop();
    }
  });

  it('ends a stream that the client cuts, and answers others meanwhile', async () => {
    const own = await startApp('tiny-llm', { PARAM_TOKENS_PER_SECOND: '50', PARAM_CONCURRENCY: '1' });
    try {
      const socket = connect(own.port, '127.0.0.1');
      const body = JSON.stringify({ model: MODEL, prompt: '', max_tokens: 1024, stream: true });
      socket.write(
        `POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      await once(socket, 'data');
      expect((await fetch(`${own.url}/v1/models`)).status).toBe(200);
      socket.destroy();
      const after = new OpenAI({ baseURL: `${own.url}/v1`, apiKey: '-' });
      const answer = await after.completions.create({ model: MODEL, prompt: 'x', max_tokens: 2 });
      expect(answer.usage!.completion_tokens).toBeLessThanOrEqual(2);
      const exited = once(own.process, 'exit');
      own.process.kill('SIGTERM');
      expect((await exited)[0]).toBe(0);
    } finally {
      await own.stop();
    }
  });
});
