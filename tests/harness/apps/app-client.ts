import { request, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { WebSocket } from 'ws';

export interface AppAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  trailers: NodeJS.Dict<string>;
  /** Statuses of interim answers. */
  interim: number[];
}

export interface AppCall {
  method?: string;
  headers?: OutgoingHttpHeaders;
  body?: string | Buffer;
}

/** Node does not resolve names under `localhost`: the client connects to the loopback and sends the name as Host. */
export class AppClient {
  readonly port: number;
  readonly host: string;

  constructor(port: number, label: string, domain = 'localhost') {
    this.port = port;
    this.host = `${label}.${domain}:${port}`;
  }

  /** Rejects if the answer breaks off. */
  async call(path: string, { method = 'GET', headers = {}, body }: AppCall = {}): Promise<AppAnswer> {
    return await new Promise((resolve, reject) => {
      const sent = request({
        host: '127.0.0.1',
        port: this.port,
        path,
        method,
        agent: false,
        headers: { host: this.host, ...headers },
      });
      const interim: number[] = [];
      sent.on('information', ({ statusCode }) => interim.push(statusCode));
      sent.on('error', reject);
      sent.on('response', (answer) => {
        let text = '';
        answer.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
        answer.on('error', reject);
        answer.on('end', () => {
          const { statusCode = 0, headers: got, trailers } = answer;
          resolve({ status: statusCode, headers: got, text, trailers, interim });
        });
      });
      sent.end(body);
    });
  }

  webSocket(path: string, headers: Record<string, string> = {}): WebSocket {
    return new WebSocket(`ws://127.0.0.1:${this.port}${path}`, { headers: { host: this.host, ...headers } });
  }

  /** Sends bytes as they are and returns everything that comes back until the other end closes, or for a while. */
  async raw(bytes: string, waitMs = 1500): Promise<string> {
    return await new Promise((resolve) => {
      let text = '';
      const socket = connect(this.port, '127.0.0.1', () => socket.write(bytes));
      const timer = setTimeout(() => socket.destroy(), waitMs);
      socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
      socket.on('error', () => undefined);
      socket.on('close', () => {
        clearTimeout(timer);
        resolve(text);
      });
    });
  }
}
