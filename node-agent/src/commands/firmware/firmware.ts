import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { commandError, type RunCommand } from '../../host/linux/commands.ts';
import { openHostFiles } from '../../host/linux/host-files.ts';
import { CommandError, requireRoot, type CommandOutput } from '../command.ts';
import { planFirmware, runConfigTool, type FirmwareProfile } from './plan-firmware.ts';

export interface FirmwareCommand {
  root: string;
  profile: FirmwareProfile;
  /** Without it the command prints the plan and changes nothing. */
  apply: boolean;
  isRoot: boolean;
}

/**
 * Sets the firmware of fabric adapters for the way the host is leased. It is written once: firmware wears and
 * every change needs a power cycle, so a host that has the settings is left alone.
 */
export async function firmware(
  command: FirmwareCommand,
  run: RunCommand,
  print: CommandOutput,
): Promise<void> {
  const { root, profile, apply } = command;
  const mark = join(root, 'var/lib/gpuaas/firmware-profile.json');
  const earlier = readMark(mark);
  if (apply && earlier?.profile === profile) {
    print(`the firmware was set up for ${profile} at ${earlier.applied_at}; nothing to do`);
    return;
  }
  const { changes, inPlace } = await planFirmware(openHostFiles(root), run, profile);
  for (const address of inPlace) print(`ok    ${address}`);
  for (const { address, settings } of changes) print(`todo  ${address}: ${settings.join(' ')}`);
  if (!apply) return print(`${changes.length} changes for ${profile}; --apply makes them`);
  requireRoot(command.isRoot, 'firmware --apply');
  for (const { address, settings } of changes) {
    const words = ['-d', address, '--yes', 'set', ...settings];
    const result = await runConfigTool(run, words);
    if (result.code !== 0) throw new CommandError(`${words.join(' ')} failed: ${commandError(result)}`);
  }
  const left = (await planFirmware(openHostFiles(root), run, profile)).changes;
  if (left.length > 0) {
    throw new CommandError(
      `the firmware of ${left.map(({ address }) => address).join(', ')} did not take it`,
    );
  }
  mkdirSync(dirname(mark), { recursive: true, mode: 0o700 });
  const applied_at = new Date().toISOString();
  writeFileSync(mark, `${JSON.stringify({ profile, applied_at })}\n`, { mode: 0o600 });
  print(`power_cycle_required: ${changes.length > 0 ? 'yes' : 'no'}`);
}

interface Mark {
  profile: string;
  applied_at: string;
}

function readMark(path: string): Mark | null {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null;
}
