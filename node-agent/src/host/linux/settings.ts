import { isIPv4 } from 'node:net';
import { isAbsolute, resolve } from 'node:path';
import type { NetworkProfileName } from './network/profiles.ts';

/** How this host runs machines. The defaults fit a GPU server; a lab must override them explicitly. */
export interface LinuxSettings {
  /** Root of `/sys`, `/proc` and `/dev`. */
  root: string;
  /** `tcg` emulates the processor: for labs without virtualisation, never chosen automatically. */
  accelerator: 'kvm' | 'tcg';
  firmware: 'uefi' | 'bios';
  /** `none` leaves GPUs and fabric functions out of the machine. */
  passthrough: 'vfio' | 'none';
  /** Guest memory of 1 GiB pages that were set aside. */
  hugepages: boolean;
  bridge: string;
  /**
   * The interface by which slices leave the host, such as a function of a BlueField-3; null for the default
   * route's.
   */
  uplink: string | null;
  /** Networks that slices do not reach through the host. */
  closedNetworks: readonly string[];
  /** How the management network is tuned. */
  networkProfile: NetworkProfileName;
  /**
   * Sources of images, in order of preference. Images are verified by digest, so any server may provide them.
   */
  imageSources: readonly string[];
  imageCacheBytes: number;
  /** A program that scrubs the memory of a GPU after a lease; null for the reset alone. */
  scrubCommand: string | null;
  /** Time limit for a guest to get its address, and again to accept a login. */
  guestDeadlineMs: number;
}

export class LinuxSettingsError extends Error {}

type Environment = Record<string, string | undefined>;

const GIB = 2 ** 30;

export function readLinuxSettings(env: Environment): LinuxSettings {
  return {
    root: resolve(env['GPUAAS_LINUX_ROOT'] || '/'),
    accelerator: oneOf(env, 'GPUAAS_LINUX_ACCELERATOR', ['kvm', 'tcg']),
    firmware: oneOf(env, 'GPUAAS_LINUX_FIRMWARE', ['uefi', 'bios']),
    passthrough: oneOf(env, 'GPUAAS_LINUX_PASSTHROUGH', ['vfio', 'none']),
    hugepages: oneOf(env, 'GPUAAS_LINUX_HUGEPAGES', ['off', 'on']) === 'on',
    bridge: env['GPUAAS_LINUX_BRIDGE'] || 'ovsbr0',
    uplink: interfaceName(env, 'GPUAAS_LINUX_UPLINK'),
    closedNetworks: networks(env, 'GPUAAS_LINUX_CLOSED_NETWORKS', '169.254.0.0/16'),
    networkProfile: oneOf(env, 'GPUAAS_LINUX_NETWORK_PROFILE', ['standard', 'throughput']),
    imageSources: (env['GPUAAS_LINUX_IMAGE_SOURCES'] ?? '').split(/[\s,]+/).filter((source) => source !== ''),
    imageCacheBytes: whole(env, 'GPUAAS_LINUX_IMAGE_CACHE_GIB', 200) * GIB,
    scrubCommand: absolute(env, 'GPUAAS_LINUX_SCRUB_COMMAND'),
    guestDeadlineMs: whole(env, 'GPUAAS_LINUX_GUEST_DEADLINE_SECONDS', 600) * 1000,
  };
}

function interfaceName(env: Environment, name: string): string | null {
  const text = env[name];
  if (!text) return null;
  if (!/^[\w.-]{1,15}$/.test(text))
    throw new LinuxSettingsError(`${name} must be the name of a network interface, not ${text}`);
  return text;
}

/** An empty value means no networks. */
function networks(env: Environment, name: string, usual: string): string[] {
  const all = (env[name] ?? usual).split(/[\s,]+/).filter((network) => network !== '');
  for (const network of all) {
    const [address, length, ...more] = network.split('/');
    const bits = Number(length);
    if (!isIPv4(address!) || !/^\d{1,2}$/.test(length ?? '') || bits > 32 || more.length > 0)
      throw new LinuxSettingsError(`${name} must be networks such as 10.0.0.0/8, not ${network}`);
  }
  return all;
}

function absolute(env: Environment, name: string): string | null {
  const path = env[name];
  if (!path) return null;
  if (!isAbsolute(path)) throw new LinuxSettingsError(`${name} must be an absolute path, not ${path}`);
  return path;
}

function oneOf<T extends string>(
  env: Environment,
  name: string,
  [usual, ...others]: readonly [T, ...T[]],
): T {
  const text = env[name];
  if (!text) return usual;
  const known = [usual, ...others].find((value) => value === text);
  if (!known)
    throw new LinuxSettingsError(`${name} must be one of ${[usual, ...others].join(', ')}, not ${text}`);
  return known;
}

function whole(env: Environment, name: string, usual: number): number {
  const value = Number(env[name] || usual);
  if (!Number.isInteger(value) || value < 1) {
    throw new LinuxSettingsError(`${name} must be a whole number of 1 or more, not ${env[name]}`);
  }
  return value;
}
