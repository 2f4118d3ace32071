import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { GuestUnreachableError } from '../../host.ts';
import { networkCommand, type GuestPids } from './session-command.ts';
import type { Sandbox } from './sandbox.ts';

export type RelayRequest =
  | { ask: 'dial'; id: number; hosts: readonly string[]; port: number }
  | { ask: 'listen'; id: number; host: string; port: number }
  | { ask: 'close'; id: number };

export type RelayAnswer =
  | { id: number; connected: true }
  | { id: number; refused: string }
  | { id: number; listening: number }
  | { id: number; accepted: { host: string; port: number } };

export interface GuestListener {
  port: number;
  close(): void;
}

export interface GuestListening {
  onConnection(socket: Socket, from: { host: string; port: number }): void;
  /** It no longer listens, and nobody closed it. */
  onLost(): void;
}

const RELAY = fileURLToPath(new URL('relay-main.ts', import.meta.url));
const IDLE_MS = 5_000;
const ANSWER_MS = 20_000;
const MAX_CONNECTIONS = 1024;
const MAX_LISTENERS = 256;

interface Waiting {
  settle(answer: RelayAnswer, socket: Socket | undefined): void;
  fail(reason: string): void;
}

/**
 * Connections to and from the network of one guest. Its process starts with the first of them and ends when there was
 * nothing to do for a while: connections that were handed over do not need it.
 */
export class GuestRelay {
  readonly #sandbox: Sandbox;
  readonly #pids: GuestPids;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Map<number, GuestListening>();
  readonly #sockets = new Set<Socket>();
  #process: ChildProcess | null = null;
  #idle: NodeJS.Timeout | undefined;
  #next = 0;
  #stopped = false;

  constructor(sandbox: Sandbox, pids: GuestPids) {
    this.#sandbox = sandbox;
    this.#pids = pids;
  }

  /** Null while none runs. */
  get pid(): number | null {
    return this.#process?.pid ?? null;
  }

  /** A socket to a port of the guest; it may be closed in one direction. */
  async dial(port: number, hosts: readonly string[] = ['127.0.0.1', '::1']): Promise<Socket> {
    const { answer, socket } = await this.#ask((id) => ({ ask: 'dial', id, hosts, port }));
    if (socket) return socket;
    throw new GuestUnreachableError(
      'refused' in answer && answer.refused === 'ECONNREFUSED'
        ? `nothing in the guest listens on port ${port}`
        : `port ${port} of the guest does not accept the connection`,
    );
  }

  /** Listens on a loopback address of the guest; port 0 chooses a free one. */
  async listen(host: string, port: number, listening: GuestListening): Promise<GuestListener> {
    if (this.#listeners.size >= MAX_LISTENERS) throw new GuestUnreachableError('too many listeners');
    let listener = 0;
    const { answer } = await this.#ask((id) => {
      listener = id;
      this.#listeners.set(id, listening);
      return { ask: 'listen', id, host, port };
    }).catch((error: unknown) => {
      this.#listeners.delete(listener);
      throw error;
    });
    const close = (): void => {
      if (!this.#listeners.delete(listener)) return;
      this.#process?.send({ ask: 'close', id: listener } satisfies RelayRequest, () => undefined);
      this.#restWhenIdle();
    };
    if ('listening' in answer) return { port: answer.listening, close };
    close();
    throw new GuestUnreachableError(`the guest cannot listen on port ${port}`);
  }

  /** Closes every connection; nothing can be opened afterwards. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#idle);
    for (const socket of this.#sockets) socket.destroy();
    this.#process?.kill('SIGKILL');
  }

  async #ask(
    request: (id: number) => RelayRequest,
  ): Promise<{ answer: RelayAnswer; socket: Socket | undefined }> {
    if (this.#stopped) throw new GuestUnreachableError('the guest is off');
    if (this.#sockets.size + this.#waiting.size >= MAX_CONNECTIONS)
      throw new GuestUnreachableError('the guest has too many open connections');
    clearTimeout(this.#idle);
    const id = (this.#next += 1);
    return await new Promise((resolve, reject) => {
      const fail = (reason: string): void => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        this.#restWhenIdle();
        reject(new GuestUnreachableError(reason));
      };
      const timer = setTimeout(() => fail('the guest does not accept the connection in time'), ANSWER_MS);
      this.#waiting.set(id, {
        fail,
        settle: (answer, socket) => {
          clearTimeout(timer);
          this.#waiting.delete(id);
          this.#restWhenIdle();
          resolve({ answer, socket });
        },
      });
      this.#running().send(request(id), (error) =>
        error ? fail('the relay of the guest ended') : undefined,
      );
    });
  }

  #running(): ChildProcess {
    this.#process ??= this.#start();
    return this.#process;
  }

  #start(): ChildProcess {
    const { owner, allocationId } = this.#sandbox;
    const argv = [process.execPath, '--max-semi-space-size=1', RELAY, allocationId, String(owner ?? '')];
    const { file, args } = networkCommand(this.#sandbox, this.#pids, argv);
    const relay = spawn(file, args, {
      cwd: '/',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { PATH: process.env['PATH'] },
    });
    // Node adds a listener for each socket that is passed.
    relay.setMaxListeners(0);
    relay.on('message', (answer: RelayAnswer, socket?: Socket) => this.#receive(answer, socket));
    const ended = (): void => {
      if (this.#process !== relay) return;
      this.#process = null;
      const lost = [...this.#listeners.values()];
      this.#listeners.clear();
      for (const { onLost } of lost) onLost();
      for (const waiting of [...this.#waiting.values()]) waiting.fail('the relay of the guest ended');
    };
    relay.on('error', ended);
    relay.on('exit', ended);
    return relay;
  }

  #receive(answer: RelayAnswer, socket: Socket | undefined): void {
    if (socket) this.#keep(socket);
    const waiting = this.#waiting.get(answer.id);
    if (waiting && !('accepted' in answer)) return waiting.settle(answer, socket);
    const listening = this.#listeners.get(answer.id);
    if (socket && listening && 'accepted' in answer && this.#sockets.size <= MAX_CONNECTIONS)
      return listening.onConnection(socket, answer.accepted);
    // Too late or too many.
    socket?.destroy();
  }

  #keep(socket: Socket): void {
    socket.allowHalfOpen = true;
    socket.setNoDelay();
    socket.on('error', () => undefined);
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #restWhenIdle(): void {
    clearTimeout(this.#idle);
    if (this.#waiting.size > 0 || this.#listeners.size > 0) return;
    this.#idle = setTimeout(() => {
      const relay = this.#process;
      this.#process = null;
      relay?.disconnect();
    }, IDLE_MS);
    this.#idle.unref();
  }
}
