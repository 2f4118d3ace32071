import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { spawn as spawnPty, type IPty } from '@lydell/node-pty';
import type { ServerChannel, Session } from 'ssh2';
import { loginShell } from './session-command.ts';
import type { Command } from './sandbox.ts';
import type { SessionProcesses } from './session-processes.ts';

export interface SessionOptions {
  /** How a program enters the guest, or the reason why none can: it could not be contained. */
  entry: GuestEntry;
  motd: string;
  processes: SessionProcesses;
}

export type GuestEntry =
  | { problem: string }
  | { problem: null; command(argv: readonly string[], environment: Record<string, string>): Command };

interface Terminal {
  cols: number;
  rows: number;
  name: string;
  /** Set while a program runs on the terminal. */
  resize: ((cols: number, rows: number) => void) | null;
}

/** Paths in Debian, Fedora and Arch. */
const SFTP_SERVERS = [
  '/usr/lib/openssh/sftp-server',
  '/usr/libexec/openssh/sftp-server',
  '/usr/lib/ssh/sftp-server',
];

const ENVIRONMENT = { PATH: process.env['PATH'] };

/** One SSH session: a login shell or a command, with or without a terminal, always contained. */
export function createSession(session: Session, { entry, motd, processes }: SessionOptions): void {
  let terminal: Terminal | null = null;
  const environment: Record<string, string> = {};

  session.on('pty', (accept, _reject, info) => {
    terminal = { ...size(info.cols, info.rows), name: termName(info), resize: null };
    accept?.();
  });
  session.on('window-change', (accept, _reject, info) => {
    const { cols, rows } = size(info.cols, info.rows);
    if (terminal) Object.assign(terminal, { cols, rows });
    terminal?.resize?.(cols, rows);
    accept?.();
  });
  session.on('env', (accept, reject, info) => {
    // Variables from a client can change how programs behave, so only languages are allowed.
    const allowed = /^(LANG|LC_[A-Z]+)$/.test(info.key);
    if (allowed) environment[info.key] = info.val.slice(0, 100);
    (allowed ? accept : reject)?.();
  });
  session.on('shell', (accept) => start(accept(), [loginShell(), '-l'], motd));
  session.on('exec', (accept, _reject, info) => start(accept(), [loginShell(), '-lc', info.command], ''));
  session.on('subsystem', (accept, reject, info) => {
    const program = info.name === 'sftp' ? SFTP_SERVERS.find((path) => existsSync(path)) : undefined;
    if (program) start(accept(), [program], '');
    else reject();
  });

  function start(channel: ServerChannel, argv: string[], greeting: string): void {
    channel.on('error', () => undefined);
    if (entry.problem !== null) return refuse(channel, entry.problem);
    channel.write(terminal ? greeting.replaceAll('\n', '\r\n') : '');
    if (terminal) {
      const command = entry.command(argv, { ...environment, TERM: terminal.name });
      runOnTerminal(channel, command, terminal, processes);
    } else runOnPipes(channel, entry.command(argv, environment), processes);
  }
}

/** Never an uncontained shell. */
function refuse(channel: ServerChannel, problem: string): void {
  channel.stderr.write(
    `This simulated machine opens no shell, because it could not contain it:\r\n${problem}\r\n`,
  );
  channel.exit(1);
  channel.end();
}

function runOnTerminal(
  channel: ServerChannel,
  command: Command,
  terminal: Terminal,
  processes: SessionProcesses,
): void {
  const { cols, rows, name } = terminal;
  // Its types leave out how to close the terminal.
  const pty: IPty & { destroy?: () => void } = spawnPty(command.file, command.args, {
    cols,
    rows,
    name,
    cwd: '/',
    env: ENVIRONMENT,
  });
  processes.started(pty.pid);
  terminal.resize = (width, height) => pty.resize(width, height);
  pty.onData((data) => {
    if (!channel.write(data)) pty.pause();
  });
  channel.on('drain', () => pty.resume());
  channel.setEncoding('utf8');
  channel.on('data', (text: string) => pty.write(text));
  pty.onExit(({ exitCode, signal }) => {
    processes.ended(pty.pid);
    terminal.resize = null;
    finish(channel, exitCode, signal);
  });
  channel.on('close', () => {
    terminal.resize = null;
    // As when a line breaks: the kernel hangs up on the program in the foreground, and on nothing else.
    pty.destroy?.();
  });
}

function runOnPipes(channel: ServerChannel, command: Command, processes: SessionProcesses): void {
  const child = spawn(command.file, command.args, {
    cwd: '/',
    stdio: 'pipe',
    detached: true,
    env: ENVIRONMENT,
  });
  child.on('error', (error) => refuse(channel, error.message));
  const { pid } = child;
  if (pid === undefined) return;
  processes.started(pid);
  child.on('exit', () => processes.ended(pid));
  child.stdin.on('error', () => undefined);
  channel.pipe(child.stdin);
  child.stdout.pipe(channel, { end: false });
  child.stderr.pipe(channel.stderr, { end: false });
  child.on('close', (code, signal) => finish(channel, code ?? 0, signal ? constants.signals[signal] : 0));
  // What it started stays, as on any machine; it can no longer write to the client.
  channel.on('close', () => {
    for (const stream of child.stdio) stream?.destroy();
  });
}

function finish(channel: ServerChannel, code: number, signal: number | undefined): void {
  channel.exit(signal ? 128 + signal : code);
  channel.end();
}

function size(cols: number, rows: number): { cols: number; rows: number } {
  const bound = (value: number, fallback: number): number => Math.min(Math.max(value || fallback, 1), 1000);
  return { cols: bound(cols, 80), rows: bound(rows, 24) };
}

function termName(info: object): string {
  const name = 'term' in info && typeof info.term === 'string' ? info.term : '';
  return /^[A-Za-z0-9._+-]{1,40}$/.test(name) ? name : 'xterm-256color';
}
