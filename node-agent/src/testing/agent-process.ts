import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { HOSTNAME } from './simulated-host.ts';

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));

export interface AgentProcess {
  child: ChildProcess;
  output(): string;
  exited: Promise<[number | null, NodeJS.Signals | null]>;
  stop(): Promise<void>;
}

/** A real agent without simulated delays. Its VMs end with the power cord, that is with this test process. */
export function startAgent(dir: string, server: string, env: Record<string, string> = {}): AgentProcess {
  const child = spawn(process.execPath, [MAIN], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      GPUAAS_AGENT_SERVER: server,
      GPUAAS_AGENT_DIR: dir,
      GPUAAS_AGENT_HOSTNAME: HOSTNAME,
      GPUAAS_AGENT_HOST: 'simulated',
      GPUAAS_SIM_SPEED: '0',
      GPUAAS_SIM_POWER_FD: '3',
      GPUAAS_SIM_BOOT_ID: 'one-power-on',
      ...env,
    },
  });
  let output = '';
  child.stdout?.on('data', (data: Buffer) => (output += data.toString()));
  child.stderr?.on('data', (data: Buffer) => (output += data.toString()));
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  return {
    child,
    output: () => output,
    exited,
    async stop() {
      child.kill('SIGTERM');
      await exited;
      child.stdio[3]?.destroy();
    },
  };
}
