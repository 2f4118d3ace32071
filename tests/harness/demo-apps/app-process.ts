import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildApp, type AppName } from '@gpuaas/lab/apps/build/build-app';

export interface AppProcess {
  url: string;
  port: number;
  /** Its home, which is empty at first. */
  home: string;
  process: ChildProcess;
  output(): string;
  stop(): Promise<void>;
}

/** Builds an app and runs it as the member runner does: a file without an ending, in an empty folder. */
export async function startApp(app: AppName, env: Record<string, string> = {}): Promise<AppProcess> {
  const folder = await mkdtemp(join(tmpdir(), `gpuaas-${app}-`));
  const { bytes } = await buildApp(app);
  await writeFile(join(folder, 'payload'), bytes);
  const child = spawn(process.execPath, ['payload'], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    }
    await rm(folder, { recursive: true, force: true });
  };
  const deadline = Date.now() + 60_000;
  for (;;) {
    const url = /listens on (http:\S+)\n/.exec(said)?.[1];
    if (url)
      return { url, port: Number(new URL(url).port), home: folder, process: child, output: () => said, stop };
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop();
      throw new Error(`${app} does not listen: ${said}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
