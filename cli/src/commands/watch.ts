import type { Command } from 'commander';
import { subscribeEvents, type EventEnvelope } from '@gpuaas/sdk/events';
import { paginate } from '@gpuaas/sdk/paginate';
import { unwrap } from '@gpuaas/sdk/problem';
import { findAllocation } from '../find-allocation.ts';
import { stripControlCharacters, colorize } from '../colorize.ts';
import { openSession, type Session } from '../session.ts';
import { runUntilInterrupted } from '../run-until-interrupted.ts';

interface WatchOptions {
  types?: string[];
  after?: string;
}

/** Final events of an allocation. */
const LAST = new Set(['allocation.released', 'allocation.failed', 'allocation.release_failed']);

export function addWatch(program: Command): void {
  program
    .command('watch')
    .description('what happens, while it happens; with --json an event on each line')
    .argument('[allocation]', 'id or name: follow one allocation from start to end')
    .option('--types <types...>', 'only these event types, for example allocation.active or billing.*')
    .option('--after <id>', 'resume after this event id')
    .action(async (called: string | undefined, options: WatchOptions, command: Command) => {
      const session = openSession(command);
      const id = called && (await findAllocation(session.client, called, 'live'));
      const wants = (event: EventEnvelope): boolean =>
        (id === undefined || event.payload['allocation_id'] === id) &&
        isOneOf(options.types, event.event_type);
      await runUntilInterrupted(async (signal) => {
        const over = new AbortController();
        const { stream, opened } = open(session, options, AbortSignal.any([signal, over.signal]));
        // Connect before reading the past, or events in between would be lost.
        let next = stream.next();
        await Promise.race([opened, next]);
        const printed = new Set(id === undefined ? [] : await printPast(session, id));
        if (id !== undefined && (await isOver(session, id))) return over.abort();
        for (; ; next = stream.next()) {
          const { value: event, done } = await next;
          if (done) return;
          if (!wants(event) || printed.has(event.event_id)) continue;
          printEvent(session, event);
          if (id !== undefined && LAST.has(event.event_type)) return over.abort();
        }
      });
    });
}

/** The stream, and when it is there. */
function open({ url, credential }: Session, { after }: WatchOptions, signal: AbortSignal) {
  let isOpen = (): void => undefined;
  const opened = new Promise<void>((resolve) => (isOpen = resolve));
  const stream = subscribeEvents({
    baseUrl: url,
    ...credential,
    ...(after !== undefined && { lastEventId: after }),
    signal,
    onStatus: (status) => (status === 'open' ? isOpen() : note('Connection lost; reconnecting …')),
  });
  return { stream, opened };
}

async function isOver({ client }: Session, id: string): Promise<boolean> {
  const params = { path: { allocation_id: id } };
  const { state } = await unwrap(client.GET('/api/v1/allocations/{allocation_id}', { params }));
  return LAST.has(`allocation.${state}`);
}

/** Prints the past events of an allocation; returns their ids. */
async function printPast({ client, json }: Session, id: string): Promise<string[]> {
  const path = { allocation_id: id };
  const printed: string[] = [];
  const timeline = paginate((page) =>
    unwrap(
      client.GET('/api/v1/allocations/{allocation_id}/timeline', {
        params: { path, query: { limit: 200, ...page } },
      }),
    ),
  );
  for await (const entry of timeline) {
    printed.push(entry.event_id);
    if (json) console.log(JSON.stringify(entry));
    else line(entry.occurred_at, entry.event_type, `${entry.stage}: ${entry.message}`);
  }
  return printed;
}

function printEvent({ json }: Session, event: EventEnvelope): void {
  if (json) return console.log(JSON.stringify(event));
  const { stage, message, name } = event.payload;
  const words = [stage, message ?? name].filter((word) => typeof word === 'string').join(': ');
  line(event.occurred_at, event.event_type, words || JSON.stringify(event.payload));
}

function line(at: string, type: string, words: string): void {
  console.log(stripControlCharacters(`${colorize('dim', at)}  ${colorize('cyan', type)}  ${words}`));
}

function note(text: string): void {
  console.error(colorize('dim', text, process.stderr));
}

function isOneOf(types: string[] | undefined, type: string): boolean {
  if (!types) return true;
  return types.some((one) => (one.endsWith('*') ? type.startsWith(one.slice(0, -1)) : type === one));
}
