import ssh2 from 'ssh2';
import { publicBlob } from '../../ssh-key-pair.ts';

export interface Login {
  address: string;
  port?: number;
  username: string;
  privateKey: string;
  /** Host key that the server must present; any other server gets nothing from us. */
  hostKey: string;
}

export interface LoginDeadlines {
  /** For one attempt to log in. */
  loginMs: number;
  /** When the caller stops waiting; a guest that is slow but alive has until then. */
  end: number;
}

export interface GuestShell {
  /** How the server introduced itself. */
  greeting: string;
  exec(command: string): Promise<{ code: number | null; output: string }>;
  close(): void;
}

/** The guest started the handshake and was too slow to finish it. */
export class GuestTimeoutError extends Error {}

/** The guest presented its own host key and does not accept our key. */
export class UnknownKeyError extends Error {}

/** Minimum time for a reply, however late the command was sent. */
const EXEC_MS = 60_000;
const MAX_OUTPUT = 8_192;

/** Logs in as a tenant would, and only if the guest shows the host key that was put into it. */
export function logIn(
  { address, port = 22, username, privateKey, hostKey }: Login,
  { loginMs, end }: LoginDeadlines,
): Promise<GuestShell> {
  const expected = publicBlob(hostKey);
  const client = new ssh2.Client();
  let greeting = '';
  let foreign = false;
  return new Promise((resolve, reject) => {
    client.on('ready', () =>
      resolve({
        greeting,
        exec: (command) => exec(client, command, Math.max(EXEC_MS, end - Date.now())),
        close,
      }),
    );
    client.on('error', (error) => {
      if (foreign) return reject(new Error('the guest shows another host key than it was given'));
      if (error.level === 'client-authentication') return reject(new UnknownKeyError(error.message));
      const slow = greeting !== '' && error.level === 'client-timeout';
      reject(slow ? new GuestTimeoutError(error.message) : error);
    });
    client.on('close', () => reject(new Error('the guest closed the connection')));
    client.connect({
      host: address,
      port,
      username,
      privateKey,
      readyTimeout: loginMs,
      ident: 'gpuaas-node-agent',
      hostVerifier: (key: Buffer) => {
        foreign = !key.equals(expected);
        return !foreign;
      },
      debug: (line) => (greeting ||= /Remote ident: '([^']+)'/.exec(line)?.[1] ?? ''),
    });
  });

  function close(): void {
    client.end();
    client.destroy();
  }
}

function exec(
  client: ssh2.Client,
  command: string,
  withinMs: number,
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('the guest no longer answers')), withinMs);
    client.exec(command, (error, channel) => {
      if (error) {
        clearTimeout(late);
        reject(error);
        return;
      }
      let output = '';
      let code: number | null = null;
      const keep = (data: Buffer): void => void (output = (output + data.toString()).slice(0, MAX_OUTPUT));
      channel.on('data', keep);
      channel.stderr.on('data', keep);
      channel.on('exit', (status: number | null) => (code = status));
      channel.on('close', () => {
        clearTimeout(late);
        resolve({ code, output: output.trim() });
      });
    });
  });
}
