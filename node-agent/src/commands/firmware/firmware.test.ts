import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunCommand } from '../../host/linux/commands.ts';
import { hgxH200 } from '../../host/simulated/host-tree/hgx-h200.ts';
import { writeHostTree } from '../../host/simulated/host-tree/write-host-tree.ts';
import { makeTreeFolder } from '../../testing/tree-folder.ts';
import { firmware, type FirmwareCommand } from './firmware.ts';

const SCRIPT = fileURLToPath(new URL('../../../maas/50-gpuaas-slice-firmware-preflight.sh', import.meta.url));
const SECURE_BOOT = 'sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c';

let root: string;
beforeEach(async () => {
  root = await makeTreeFolder();
  const tree = hgxH200({ gpus: 2 });
  writeHostTree(root, { ...tree, files: { ...tree.files, '/sys/firmware/acpi/tables/DMAR': 'x' } });
  const flags = 'flags\t\t: fpu vme msr vmx est\n';
  writeFileSync(join(root, 'proc/cpuinfo'), `${readFileSync(join(root, 'proc/cpuinfo'), 'utf8')}\n${flags}`);
});
afterEach(() => rm(root, { recursive: true }));

describe('the commissioning preflight', () => {
  function preflight(...args: string[]): Promise<{ code: number; said: string }> {
    return new Promise((resolve) => {
      const env = { PATH: process.env['PATH'], GPUAAS_ROOT: root };
      execFile('bash', [SCRIPT, ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code) : 0, said: stdout + stderr }),
      );
    });
  }

  it('passes a machine that is set up for slices', async () => {
    expect(await preflight('--profile=slice-vm')).toEqual({
      code: 0,
      said: expect.stringContaining('profile slice-vm: 0 missing'),
    });
  });

  it.each([
    ['UEFI', 'booted by UEFI', (): void => rmSync(join(root, 'sys/firmware/efi'), { recursive: true })],
    ['IOMMU', 'no IOMMU', (): void => rmSync(join(root, 'sys/firmware/acpi/tables/DMAR'))],
    [
      'virtualization',
      'virtualization is off',
      (): void => writeFileSync(join(root, 'proc/cpuinfo'), 'flags : fpu vmxnet\n'),
    ],
    [
      'Secure Boot',
      'Secure Boot is on',
      (): void => {
        mkdirSync(join(root, 'sys/firmware/efi/efivars'), { recursive: true });
        writeFileSync(join(root, SECURE_BOOT), Buffer.from([6, 0, 0, 0, 1]));
      },
    ],
  ])('fails for slices when the firmware lacks %s, with the remedy', async (_, words, take) => {
    take();
    const { code, said } = await preflight('--profile=slice-vm');
    expect({ code, said }).toEqual({ code: 1, said: expect.stringContaining(words) });
    expect(said).toMatch(/-> \w+/);
  });

  it('checks only what the profile needs, and nothing without one', async () => {
    rmSync(join(root, 'sys/firmware/acpi/tables/DMAR'));
    expect((await preflight('--profile=baremetal')).code).toBe(0);
    rmSync(join(root, 'sys/bus/pci/devices'), { recursive: true });
    expect((await preflight('--profile=baremetal')).said).toContain('MISS  no GPU');
    expect(await preflight()).toEqual({ code: 0, said: 'no profile was chosen; nothing is checked\n' });
    expect((await preflight('--profile=other')).code).toBe(2);
  });

  it('contains the metadata that MAAS reads from a script', () => {
    const [, metadata] =
      /--- Start MAAS 1.0 script metadata ---\n([\s\S]*?)# --- End MAAS 1.0 script metadata ---/.exec(
        readFileSync(SCRIPT, 'utf8'),
      )!;
    for (const line of [
      '# script_type: commissioning',
      '# name: 50-gpuaas-slice-firmware-preflight',
      '#   profile:',
    ]) {
      expect(metadata).toContain(`${line}\n`);
    }
  });
});

describe('the firmware helper', () => {
  let held: Record<string, Record<string, string>>;
  let ran: string[];
  let printed: string;
  let deaf: boolean;
  beforeEach(() => {
    [held, ran, printed, deaf] = [{}, [], '', false];
  });

  const print = (text: string): void => void (printed += `${text}\n`);
  /** mlxconfig for adapters that are delivered with SR-IOV off. */
  const run: RunCommand = (tool, args) => {
    // As a distribution has it.
    if (tool !== 'mstconfig') return Promise.resolve(null);
    const address = args[1]!;
    const settings = (held[address] ??= { SRIOV_EN: '0', NUM_OF_VFS: '0' });
    if (args.includes('set')) {
      ran.push(args.join(' '));
      if (!deaf) Object.assign(settings, Object.fromEntries(args.slice(4).map((one) => one.split('='))));
      return Promise.resolve({ code: 0, stdout: 'Applying... Done!\n', stderr: '' });
    }
    const rows = args.slice(3).map((name) => {
      const value = settings[name]!;
      const shown = name.endsWith('_EN') ? `${value === '1' ? 'True' : 'False'}(${value})` : value;
      return `         ${name.padEnd(44)}${shown}`;
    });
    const stdout = `\nDevice #1:\n----------\n\nDevice:         ${address}\n\nConfigurations:         Next Boot\n${rows.join('\n')}\n`;
    return Promise.resolve({ code: 0, stdout, stderr: '' });
  };
  const command = (change: Partial<FirmwareCommand> = {}): FirmwareCommand => ({
    root,
    profile: 'slice-vm',
    apply: false,
    isRoot: true,
    ...change,
  });
  const mark = (): string => join(root, 'var/lib/gpuaas/firmware-profile.json');

  it('prints its plan and changes nothing', async () => {
    await firmware(command({ isRoot: false }), run, print);
    expect(printed).toMatch(/todo {2}0000:\S+: SRIOV_EN=1 NUM_OF_VFS=8/);
    expect(ran).toEqual([]);
    expect(existsSync(mark())).toBe(false);
  });

  it('sets every adapter once, and reports that a power cycle is due', async () => {
    await firmware(command({ apply: true }), run, print);
    expect(ran.length).toBeGreaterThan(1);
    expect(printed).toContain('power_cycle_required: yes');
    const before = ran.length;
    // Values that an administrator sets later are kept.
    held = {};
    await firmware(command({ apply: true }), run, print);
    expect(ran).toHaveLength(before);
    expect(printed).toContain('nothing to do');
  });

  it('leaves the firmware of a host for baremetal alone', async () => {
    await firmware(command({ profile: 'baremetal', apply: true }), () => Promise.resolve(null), print);
    expect(ran).toEqual([]);
    expect(printed).toContain('power_cycle_required: no');
  });

  it('needs root, mlxconfig, and adapters that respond', async () => {
    await expect(firmware(command({ apply: true, isRoot: false }), run, print)).rejects.toThrow('needs root');
    const without: RunCommand = () => Promise.resolve(null);
    await expect(firmware(command(), without, print)).rejects.toThrow('neither mlxconfig nor mstconfig');
    deaf = true;
    await expect(firmware(command({ apply: true }), run, print)).rejects.toThrow('did not take it');
    expect(existsSync(mark())).toBe(false);
  });
});
