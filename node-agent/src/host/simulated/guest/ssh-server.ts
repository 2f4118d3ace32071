import { timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:net';
import ssh2, { type AuthContext, type Connection, type ParsedKey, type Session } from 'ssh2';
import { listeningPort } from '@gpuaas/contracts/listening-port';
import { serveForwarding, type GuestNetwork } from './ssh-forwarding.ts';
import { createSession, type SessionOptions } from './ssh-session.ts';

export interface GuestSshOptions extends SessionOptions {
  hostKey: string;
  hostname: string;
  username: string;
  /** Asked at every login: the tenant may change them. */
  authorizedKeys: () => Promise<readonly string[]>;
  network: GuestNetwork;
}

export interface GuestSsh {
  port: number;
  /** Disconnects all clients. */
  close(): void;
}

const MAX_SESSIONS = 64;
const MAX_CONNECTIONS = 256;
const LOGIN_GRACE_MS = 30_000;

/** The guest's SSH server on its own loopback port. */
export function serveSsh(options: GuestSshOptions): Promise<GuestSsh> {
  const connections = new Set<Connection>();
  let sessions = 0;
  const ssh = new ssh2.Server(
    { hostKeys: [options.hostKey], ident: 'GPUaaS-simulated-guest' },
    (connection) => {
      connections.add(connection);
      connection.on('error', () => undefined);
      const grace = setTimeout(() => connection.end(), LOGIN_GRACE_MS);
      connection.on('authentication', (login) => {
        options.authorizedKeys().then(
          (lines) => authenticate(login, options.username, parseKeys(lines)),
          () => login.reject(['publickey']),
        );
      });
      connection.on('ready', () => {
        clearTimeout(grace);
        serveSessions(connection);
        serveForwarding(connection, options.network, options.hostname);
      });
      connection.on('close', () => {
        clearTimeout(grace);
        connections.delete(connection);
      });
    },
  );
  // Forwarded ports carry small messages, which must not wait for each other.
  const server = createServer({ noDelay: true }, (socket) => ssh.injectSocket(socket));
  server.maxConnections = MAX_CONNECTIONS;

  function serveSessions(connection: Connection): void {
    const open = new Set<Session>();
    connection.on('session', (accept, reject) => {
      if (sessions >= MAX_SESSIONS) return reject();
      const session = accept();
      sessions += 1;
      open.add(session);
      session.on('close', () => {
        if (open.delete(session)) sessions -= 1;
      });
      createSession(session, options);
    });
    // A client that disconnects need not close its sessions first.
    connection.on('close', () => {
      sessions -= open.size;
      open.clear();
    });
  }

  function close(): void {
    server.close();
    for (const connection of connections) connection.end();
  }

  return new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      resolve({ port: listeningPort(server), close });
    });
  });
}

/** Keys of kinds that this server cannot verify (e.g. hardware tokens) are passed over. */
function parseKeys(lines: readonly string[]): ParsedKey[] {
  return lines.flatMap((line) => {
    const key = ssh2.utils.parseKey(line.trim());
    return key instanceof Error ? [] : [key];
  });
}

function authenticate(login: AuthContext, username: string, keys: readonly ParsedKey[]): void {
  if (login.method !== 'publickey' || login.username !== username) return login.reject(['publickey']);
  const { key: offered, blob, signature, hashAlgo } = login;
  const known = keys.find((key) => sameBytes(key.getPublicSSH(), offered.data));
  if (!known) return login.reject(['publickey']);
  // Without a signature the client only asks whether the key would be accepted.
  if (!signature || !blob) return login.accept();
  // Despite its type it may return an Error, which is truthy.
  const verified: unknown = known.verify(blob, signature, hashAlgo);
  if (verified === true) return login.accept();
  login.reject(['publickey']);
}

function sameBytes(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
