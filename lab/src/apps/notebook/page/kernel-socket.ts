import { fieldsOf } from '../../fields-of.ts';
import { textOf } from '../../text-of.ts';
import { readKernelState } from './notebook-api.ts';

export interface KernelReply {
  type: string;
  content: Record<string, unknown>;
}

interface Waiting {
  onOutput(reply: KernelReply): void;
  done(): void;
}

const RECONNECT_MS = 1000;

/** The WebSocket to a kernel. After a break it connects again as the same client, which gets what it missed. */
export class KernelSocket {
  readonly #kernelId: string;
  readonly #address: URL;
  readonly #session = crypto.randomUUID();
  readonly #waiting = new Map<string, Waiting>();
  readonly #onStatus: (status: string) => void;
  #unsent: string[] = [];
  #socket: WebSocket | null = null;
  #closed = false;
  #hasHeardStatus = false;

  constructor(kernelId: string, onStatus: (status: string) => void) {
    this.#kernelId = kernelId;
    this.#address = new URL(`api/kernels/${kernelId}/channels?session_id=${this.#session}`, document.baseURI);
    this.#address.protocol = this.#address.protocol.replace('http', 'ws');
    this.#onStatus = onStatus;
    this.#connect();
  }

  /** Resolves when the cell has ended. */
  execute(code: string, onOutput: (reply: KernelReply) => void): Promise<void> {
    const id = crypto.randomUUID();
    const header = {
      msg_id: id,
      msg_type: 'execute_request',
      session: this.#session,
      username: '',
      date: new Date().toISOString(),
      version: '5.3',
    };
    const content = { code, silent: false, store_history: true, allow_stdin: false, stop_on_error: true };
    const message = { channel: 'shell', header, parent_header: {}, metadata: {}, content };
    return new Promise((resolve) => {
      this.#waiting.set(id, { onOutput, done: resolve });
      this.#unsent.push(JSON.stringify(message));
      this.#flush();
    });
  }

  /** A kernel that was restarted answers none of the old requests. */
  forget(): void {
    for (const { done } of this.#waiting.values()) done();
    this.#waiting.clear();
  }

  close(): void {
    this.#closed = true;
    this.#socket?.close();
    this.forget();
  }

  #connect(): void {
    const socket = new WebSocket(this.#address);
    this.#socket = socket;
    socket.addEventListener('open', () => {
      this.#flush();
      void this.#showState();
    });
    socket.addEventListener('message', ({ data }) => this.#receive(String(data)));
    socket.addEventListener('close', () => {
      if (this.#closed) return;
      this.#onStatus('disconnected');
      setTimeout(() => this.#connect(), RECONNECT_MS);
    });
  }

  /** The kernel reports changes only: if it became idle before the socket opened, no message says so. */
  async #showState(): Promise<void> {
    this.#hasHeardStatus = false;
    const state = await readKernelState(this.#kernelId).catch(() => '');
    if (state !== '' && !this.#hasHeardStatus && !this.#closed) this.#onStatus(state);
  }

  #flush(): void {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    for (const message of this.#unsent) this.#socket.send(message);
    this.#unsent = [];
  }

  #receive(data: string): void {
    const message = fieldsOf(JSON.parse(data));
    const content = fieldsOf(message['content']);
    const type = textOf(fieldsOf(message['header'])['msg_type']);
    const id = textOf(fieldsOf(message['parent_header'])['msg_id']);
    const state = textOf(content['execution_state']);
    if (type === 'status') {
      this.#hasHeardStatus = true;
      this.#onStatus(state);
      if (state === 'restarting') this.forget();
    }
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    waiting.onOutput({ type, content });
    if (type === 'status' && state === 'idle') {
      this.#waiting.delete(id);
      waiting.done();
    }
  }
}
