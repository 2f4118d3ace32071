import { hostname as osHostname } from 'node:os';
import { resolve } from 'node:path';
import { listFaults } from '@gpuaas/contracts/simulated-faults';
import { readLinuxSettings, type LinuxSettings } from './host/linux/settings.ts';

export interface AgentConfig {
  server: URL;
  dir: string;
  hostname: string;
  /** Only needed to enrol; the identity on disk serves from then on. */
  token: string | null;
  host: 'linux' | 'simulated';
  linux: LinuxSettings;
  simulation: SimulationConfig;
  crashAt: string | null;
}

export interface SimulationConfig {
  /** Multiplier of the realistic delays; 0 means no delays. */
  speed: number;
  faults: readonly string[];
  /** The read end of the power cord that the lab supervisor holds. */
  powerFd: number | null;
  /** Names one power-on of the simulated machine. */
  bootId: string | null;
}

export class ConfigError extends Error {}

type Environment = Record<string, string | undefined>;

export function readConfig(env: Environment): AgentConfig {
  const host = env['GPUAAS_AGENT_HOST'] ?? 'linux';
  if (host !== 'simulated' && host !== 'linux') {
    throw new ConfigError(`GPUAAS_AGENT_HOST must be "linux" or "simulated", not ${host}`);
  }
  return {
    server: serverUrl(env['GPUAAS_AGENT_SERVER'] ?? 'https://127.0.0.1:8443'),
    dir: resolve(required(env, 'GPUAAS_AGENT_DIR')),
    hostname: env['GPUAAS_AGENT_HOSTNAME'] || osHostname().split('.')[0] || 'node',
    token: env['GPUAAS_AGENT_TOKEN'] || null,
    host,
    linux: readLinuxSettings(env),
    simulation: {
      speed: speed(env['GPUAAS_SIM_SPEED'] ?? '1'),
      faults: listFaults(env['GPUAAS_SIM_FAULTS'] ?? ''),
      powerFd: powerFd(env['GPUAAS_SIM_POWER_FD']),
      bootId: env['GPUAAS_SIM_BOOT_ID'] || null,
    },
    crashAt: env['GPUAAS_AGENT_CRASH_AT'] || null,
  };
}

function required(env: Environment, name: string): string {
  const value = env[name];
  if (!value) throw new ConfigError(`${name} must be set`);
  return value;
}

function serverUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'https:')
    throw new ConfigError(`GPUAAS_AGENT_SERVER must be an https URL, not ${text}`);
  return url;
}

function speed(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0)
    throw new ConfigError(`GPUAAS_SIM_SPEED must be 0 or more, not ${text}`);
  return value;
}

function powerFd(text: string | undefined): number | null {
  if (!text) return null;
  const fd = Number(text);
  if (!Number.isInteger(fd) || fd < 3)
    throw new ConfigError(`GPUAAS_SIM_POWER_FD must be 3 or more, not ${text}`);
  return fd;
}
