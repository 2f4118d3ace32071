import { commandError, type CommandResult, type RunCommand } from '../../host/linux/commands.ts';
import { readFabrics } from '../../host/linux/inventory/fabrics.ts';
import type { HostFiles } from '../../host/linux/host-files.ts';
import { readPciDevices } from '../../host/linux/inventory/pci.ts';
import { CommandError } from '../command.ts';

export type FirmwareProfile = 'slice-vm' | 'baremetal';

/** Firmware settings of every fabric adapter. A host that is leased as a whole keeps its own. */
const WANTED: Record<FirmwareProfile, Readonly<Record<string, string>>> = {
  'slice-vm': { SRIOV_EN: '1', NUM_OF_VFS: '8' },
  baremetal: {},
};

/** One adapter whose firmware differs from the profile. */
export interface FirmwareChange {
  address: string;
  /** `NAME=value`, as mlxconfig takes it. */
  settings: string[];
}

export interface FirmwarePlan {
  changes: FirmwareChange[];
  inPlace: string[];
}

export function isFirmwareProfile(text: string | undefined): text is FirmwareProfile {
  return text !== undefined && Object.hasOwn(WANTED, text);
}

/** Compares the adapters' firmware with the profile, without changing it. */
export async function planFirmware(
  files: HostFiles,
  run: RunCommand,
  profile: FirmwareProfile,
): Promise<FirmwarePlan> {
  const wanted = Object.entries(WANTED[profile]);
  const plan: FirmwarePlan = { changes: [], inPlace: [] };
  if (wanted.length === 0) return plan;
  const pci = new Map(readPciDevices(files).map((device) => [device.address, device]));
  for (const { pf } of readFabrics(files, pci)) {
    const held = await readSettings(
      run,
      pf.address,
      wanted.map(([name]) => name),
    );
    const wrong = wanted.filter(([name, value]) => held.get(name) !== value);
    if (wrong.length === 0) plan.inPlace.push(pf.address);
    else {
      const settings = wrong.map(([name, value]) => `${name}=${value}`);
      plan.changes.push({ address: pf.address, settings });
    }
  }
  return plan;
}

/** Settings that take effect at the next power-up. mlxconfig prints `True(1)` for switches. */
async function readSettings(
  run: RunCommand,
  address: string,
  names: readonly string[],
): Promise<Map<string, string>> {
  const result = await runConfigTool(run, ['-d', address, 'query', ...names]);
  if (result.code !== 0)
    throw new CommandError(`the firmware of ${address} cannot be read: ${commandError(result)}`);
  const lines = result.stdout.split('\n').flatMap((line) => {
    const found = /^\s*\*?\s*([A-Z][A-Z0-9_]+)\s+(?:\w+\((\d+)\)|(\d+))\s*$/.exec(line);
    return found ? [[found[1]!, found[2] ?? found[3]!] as const] : [];
  });
  return new Map(lines);
}

const COMMAND_MS = 300_000;

/** NVIDIA's tool, or the distribution's build of it, which takes the same arguments. */
export async function runConfigTool(run: RunCommand, words: readonly string[]): Promise<CommandResult> {
  for (const tool of ['mlxconfig', 'mstconfig']) {
    const result = await run(tool, words, { timeoutMs: COMMAND_MS });
    if (result !== null) return result;
  }
  throw new CommandError('neither mlxconfig nor mstconfig (package mstflint) is installed');
}
