import { spawn, type ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Readable, Writable } from 'node:stream';
import {
  EVENTS_FD,
  INTERRUPT_FD,
  readEvent,
  type KernelEvent,
  type KernelRequest,
} from '../kernel/kernel-events.ts';

export interface KernelProcessHandlers {
  onEvent(event: KernelEvent): void;
  /** The process ended without being asked to. */
  onLost(): void;
}

/** The process in which the cells of one kernel run: the same payload with another argument. */
export class KernelProcess {
  readonly #child: ChildProcess;
  readonly #events: Readable;
  readonly #interrupts: Writable;
  #unfinished = '';
  #stopped = false;

  constructor(folder: string, handlers: KernelProcessHandlers) {
    this.#child = spawn(
      process.execPath,
      // Terminating a timer's callback leaves the stack of async hooks behind, which the check would take for a bug.
      ['--no-force-async-hooks-checks', fileURLToPath(import.meta.url), 'kernel'],
      { cwd: folder, stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'ipc'], env: kernelEnvironment() },
    );
    this.#events = streamAt(this.#child, EVENTS_FD);
    this.#interrupts = streamAt(this.#child, INTERRUPT_FD);
    this.#interrupts.on('error', () => undefined);
    this.#child.on('error', () => undefined);
    // A process that was stopped has nothing more to say.
    const report = (event: KernelEvent): void => {
      if (!this.#stopped) handlers.onEvent(event);
    };
    this.#events.on('data', (chunk: Buffer) => {
      for (const event of this.#eventsIn(chunk)) report(event);
    });
    // Programs that a cell starts write to the descriptors themselves.
    for (const name of ['stdout', 'stderr'] as const)
      this.#child[name]?.on('data', (chunk: Buffer) =>
        report({ type: 'stream', name, text: chunk.toString('utf8') }),
      );
    this.#child.once('close', () => {
      if (!this.#stopped) handlers.onLost();
    });
  }

  send(request: KernelRequest): void {
    this.#child.send(request, () => undefined);
  }

  interrupt(): void {
    this.#interrupts.write('i');
  }

  /** A cell that prints more than clients read is held up. */
  hold(held: boolean): void {
    if (held) this.#events.pause();
    else this.#events.resume();
  }

  /** Cells may ignore anything but SIGKILL. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await exited;
  }

  /** Lines of the chunk. Text of one stream that arrives together becomes one event. */
  #eventsIn(chunk: Buffer): KernelEvent[] {
    const lines = (this.#unfinished + chunk.toString('latin1')).split('\n');
    this.#unfinished = lines.pop() ?? '';
    const events: KernelEvent[] = [];
    for (const line of lines) {
      const event = readEvent(Buffer.from(line, 'latin1').toString('utf8'));
      if (!event) continue;
      const last = events.at(-1);
      if (event.type === 'stream' && last?.type === 'stream' && last.name === event.name)
        last.text += event.text;
      else events.push(event);
    }
    return events;
  }
}

function streamAt({ stdio }: ChildProcess, fd: number): Socket {
  const stream = stdio[fd];
  if (!(stream instanceof Socket)) throw new Error(`The kernel has no descriptor ${fd}`);
  return stream;
}

/** Without the secrets of the server itself. */
function kernelEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => name !== 'PARAM_TOKEN'));
}
