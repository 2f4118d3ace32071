import { WebSocket } from 'ws';
import type { GpuaasClient } from '@gpuaas/sdk/client';
import { unwrap } from '@gpuaas/sdk/problem';

export interface TerminalEnd {
  code: number;
  reason: string;
  /** The gateway's own word for why it ended. */
  message: string | null;
}

/** A terminal as the browser speaks it. */
export class TestTerminal {
  readonly #ws: WebSocket;
  /** The socket is open and the token has been sent. */
  readonly opened: Promise<void>;
  readonly ready: Promise<void>;
  readonly ended: Promise<TerminalEnd>;
  output = '';

  constructor(baseUrl: string, path: string, token: string, origin = baseUrl) {
    const url = `${baseUrl.replace(/^http/, 'ws')}${path}`;
    this.#ws = new WebSocket(url, { origin });
    this.opened = new Promise((resolve) => this.#ws.on('open', () => resolve()));
    let message: string | null = null;
    this.ready = new Promise((resolve, reject) => {
      this.#ws.on('open', () => this.#ws.send(JSON.stringify({ type: 'auth', token, cols: 80, rows: 24 })));
      this.#ws.on('message', (data, isBinary) => {
        const text = (data as Buffer).toString('utf8');
        if (isBinary) {
          this.output += text;
          return;
        }
        const control = JSON.parse(text) as { type: string; reason?: string };
        if (control.type === 'ready') resolve();
        if (control.type === 'closed') message = control.reason ?? null;
      });
      this.#ws.on('close', (code) => reject(new Error(`closed with ${code}`)));
      this.#ws.on('error', reject);
    });
    this.ready.catch(() => undefined);
    this.ended = new Promise((resolve) => {
      this.#ws.on('close', (code, reason) => resolve({ code, reason: reason.toString(), message }));
    });
  }

  type(text: string): void {
    this.#ws.send(Buffer.from(text), { binary: true });
  }

  close(): void {
    this.#ws.close();
  }

  /** As a browser that vanishes. */
  terminate(): void {
    this.#ws.terminate();
  }
}

export async function mintTerminalToken(client: GpuaasClient, allocationId: string) {
  return await unwrap(
    client.POST('/api/v1/allocations/{allocation_id}/terminal-token', {
      params: { path: { allocation_id: allocationId } },
    }),
  );
}
