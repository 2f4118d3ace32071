import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { eventually } from '../eventually.ts';
import { freePort } from '../processes/free-port.ts';

export const redisServerInstalled = ((): boolean => {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

export interface RedisServer {
  url: string;
  stop(): Promise<void>;
}

/** Debian's redis-server on a free port; it writes nothing to disk. */
export async function startRedisServer(): Promise<RedisServer> {
  const port = await freePort();
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', tmpdir()];
  const child = spawn('redis-server', settings, { stdio: 'ignore' });
  await eventually('Redis to answer', () => answers(port));
  return {
    url: `redis://127.0.0.1:${port}`,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

async function answers(port: number): Promise<true | null> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return null;
  } finally {
    socket.destroy();
  }
}
