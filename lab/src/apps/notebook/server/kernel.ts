import { randomUUID } from 'node:crypto';
import type { KernelEvent, KernelRequest } from '../kernel/kernel-events.ts';
import { newMessage, type Channel, type KernelMessage, type MessageHeader } from '../wire/kernel-message.ts';
import type { Audience } from './audience.ts';
import { KERNEL_INFO } from './kernel-info.ts';
import { KernelProcess } from './kernel-process.ts';
import { toReply, toRequest } from './requests.ts';

type Content = Record<string, unknown>;
type State = 'starting' | 'idle' | 'busy' | 'restarting' | 'dead';

interface Task {
  message: KernelMessage;
  /** The client that gets the reply. */
  client: string;
}

const HOLD_CHECK_MS = 50;

/** One kernel: its process, the queue of requests for it, and the clients that listen. */
export class Kernel {
  readonly id = randomUUID();
  readonly name: string;
  readonly audience: Audience;
  readonly #folder: string;
  readonly #session = randomUUID();
  #process: KernelProcess;
  #ready = false;
  #state: State = 'starting';
  #lastActivity = new Date();
  #count = 0;
  #requests = 0;
  #queue: Task[] = [];
  #current: (Task & { id: number }) | null = null;
  /** Output of background work belongs to the cell that ran last. */
  #parent: MessageHeader | null = null;

  constructor(options: { name: string; folder: string; audience: Audience }) {
    this.name = options.name;
    this.audience = options.audience;
    this.#folder = options.folder;
    this.#process = this.#start();
  }

  get model(): {
    id: string;
    name: string;
    last_activity: string;
    execution_state: State;
    connections: number;
  } {
    return {
      id: this.id,
      name: this.name,
      last_activity: this.#lastActivity.toISOString(),
      execution_state: this.#state,
      connections: this.audience.size,
    };
  }

  get lastActivity(): Date {
    return this.#lastActivity;
  }

  /** A message from a client. */
  receive(message: KernelMessage, client: string): void {
    this.#lastActivity = new Date();
    const task = { message, client };
    const type = message.header.msg_type;
    if (type === 'interrupt_request') {
      this.interrupt();
      this.#reply(task, { status: 'ok' });
    } else if (type === 'shutdown_request') {
      this.#reply(task, { status: 'ok', restart: message.content['restart'] === true });
      void (message.content['restart'] === true ? this.restart() : this.stop());
    } else if (type === 'kernel_info_request') {
      this.#around(task, () => this.#reply(task, KERNEL_INFO));
    } else {
      this.#queue.push(task);
      this.#next();
    }
  }

  interrupt(): void {
    this.#abortQueue();
    this.#process.interrupt();
  }

  /** Requests that come while the old process ends wait for the new one. */
  async restart(): Promise<void> {
    this.#setState('restarting', null);
    this.#ready = false;
    this.#forget();
    await this.#process.stop();
    this.#process = this.#start();
  }

  async stop(): Promise<void> {
    await this.#process.stop();
    this.#forget();
    this.#setState('dead', null);
    this.audience.close();
  }

  #start(): KernelProcess {
    this.#ready = false;
    return new KernelProcess(this.#folder, {
      onEvent: (event) => this.#onEvent(event),
      onLost: () => {
        this.#forget();
        this.#setState('restarting', null);
        this.#process = this.#start();
      },
    });
  }

  /** State of a process that is gone. */
  #forget(): void {
    this.#abortQueue();
    if (this.#current) this.#reply(this.#current, { status: 'aborted', execution_count: this.#count });
    this.#current = null;
    this.#count = 0;
  }

  #next(): void {
    if (!this.#ready || this.#current) return;
    const task = this.#queue.shift();
    if (!task) return;
    const { message } = task;
    const asked = toRequest(message, this.#requests + 1, this.#count + 1);
    if (!asked) {
      this.#around(task, () => this.#reply(task, toReply(message, null, this.#count)));
      return this.#next();
    }
    this.#requests += 1;
    this.#current = { ...task, id: this.#requests };
    this.#parent = message.header;
    this.#setState('busy', message.header);
    if (asked.kind === 'execute' && !asked.silent) {
      this.#count += 1;
      this.#publish('execute_input', { code: asked.code, execution_count: this.#count }, message.header);
    }
    this.#send(asked);
  }

  #send(request: KernelRequest): void {
    this.#process.send(request);
  }

  #onEvent(event: KernelEvent): void {
    this.#lastActivity = new Date();
    switch (event.type) {
      case 'ready':
        this.#ready = true;
        this.#setState('idle', null);
        return this.#next();
      case 'stream':
        return this.#publish('stream', { name: event.name, text: event.text });
      case 'clear':
        return this.#publish('clear_output', { wait: event.wait });
      case 'display': {
        const transient = event.displayId === null ? {} : { display_id: event.displayId };
        const type = event.update ? 'update_display_data' : 'display_data';
        return this.#publish(type, { data: event.data, metadata: {}, transient });
      }
      case 'result':
        return this.#publish('execute_result', {
          data: event.data,
          metadata: {},
          execution_count: this.#count,
        });
      default:
        return this.#finish(event);
    }
  }

  #finish(event: Extract<KernelEvent, { id: number }>): void {
    const task = this.#current;
    if (!task || task.id !== event.id) return;
    if (event.type === 'done' && event.error) {
      this.#publish('error', { ...event.error });
      if (task.message.content['stop_on_error'] !== false) this.#abortQueue();
    }
    this.#reply(task, toReply(task.message, event, this.#count));
    this.#current = null;
    this.#setState('idle', task.message.header);
    this.#next();
  }

  /** Cells that were queued behind one that failed do not run. */
  #abortQueue(): void {
    const queued = this.#queue;
    this.#queue = [];
    for (const task of queued)
      this.#around(task, () => this.#reply(task, { status: 'aborted', execution_count: this.#count }));
  }

  /** Clients take a request as finished when they see the kernel idle after it. */
  #around({ message }: Task, work: () => void): void {
    this.#publish('status', { execution_state: 'busy' }, message.header);
    work();
    this.#publish('status', { execution_state: 'idle' }, message.header);
  }

  #setState(state: State, parent: MessageHeader | null): void {
    this.#state = state;
    this.#publish('status', { execution_state: state }, parent);
  }

  #reply({ message, client }: Task, content: Content): void {
    const type = message.header.msg_type.replace(/_request$/, '_reply');
    const channel: Channel = message.channel === 'control' ? 'control' : 'shell';
    this.audience.send(newMessage(this.#session, channel, type, content, message.header), client);
  }

  #publish(type: string, content: Content, parent: MessageHeader | null = this.#parent): void {
    this.audience.send(newMessage(this.#session, 'iopub', type, content, parent), null);
    if (this.audience.isBehind) this.#holdOutput();
  }

  #holdOutput(): void {
    const held = this.#process;
    held.hold(true);
    const check = (): void => {
      if (this.audience.isBehind) setTimeout(check, HOLD_CHECK_MS);
      else held.hold(false);
    };
    setTimeout(check, HOLD_CHECK_MS);
  }
}
