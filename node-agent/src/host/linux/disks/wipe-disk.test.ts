import { describe, expect, it } from 'vitest';
import type { RunCommand } from '../commands.ts';
import type { SlotDisk } from './resolve-disk.ts';
import { wipeDisk } from './wipe-disk.ts';

const disk = { name: 'nvme3n1', node: '/dev/nvme3n1', serial: 'S1', sizeBytes: 2 ** 40 } as SlotDisk;

/** A drive whose sanitize log shows these states one after the other, as nvme-cli prints it. */
function drive(states: readonly { sprog: number; sstat: number }[], sanitizeCode = 0) {
  const asked: string[] = [];
  const left = [...states];
  const run: RunCommand = async (tool, args) => {
    asked.push([tool, ...args].join(' '));
    if (args[0] === 'sanitize') return { code: sanitizeCode, stdout: '', stderr: 'Invalid Command Opcode' };
    const log = left.length > 1 ? left.shift() : left[0];
    return { code: 0, stdout: JSON.stringify({ '/dev/nvme3': { ...log, scdw10: 2 } }), stderr: '' };
  };
  const percents: number[] = [];
  const step = { signal: new AbortController().signal, percent: (at: number) => void percents.push(at) };
  return { asked, percents, wipe: () => wipeDisk(run, disk, 'nvme_sanitize', step) };
}

const SANITIZE = 'nvme sanitize /dev/nvme3 --sanact=2';

describe('a sanitize', () => {
  it('is asked of the controller and followed in its log to the end', async () => {
    const { asked, percents, wipe } = drive([
      { sprog: 65535, sstat: 0 },
      { sprog: 32768, sstat: 2 },
      { sprog: 65535, sstat: 0x101 },
    ]);
    await wipe();
    expect(asked.filter((line) => line === SANITIZE)).toHaveLength(1);
    expect(asked.filter((line) => line.includes('sanitize-log /dev/nvme3')).length).toBeGreaterThan(2);
    expect(percents).toContain(50);
    expect(percents.at(-1)).toBe(100);
  });

  it('that goes on already, after a power cut or a killed agent, is waited for and not begun again', async () => {
    const { asked, wipe } = drive([
      { sprog: 100, sstat: 2 },
      { sprog: 65535, sstat: 4 },
    ]);
    await wipe();
    expect(asked).not.toContain(SANITIZE);
  });

  it('that the drive calls failed, or does not know, is no wipe', async () => {
    const failed = drive([
      { sprog: 0, sstat: 0 },
      { sprog: 0, sstat: 3 },
    ]);
    await expect(failed.wipe()).rejects.toMatchObject({ code: 'wipe_failed' });
    await expect(drive([{ sprog: 0, sstat: 0 }], 1).wipe()).rejects.toMatchObject({
      code: 'wipe_failed',
      message: expect.stringContaining('Invalid Command Opcode'),
    });
  });
});
