import { describe, expect, it } from 'vitest';
import type { RunCommand } from '../commands.ts';
import type { SlotDisk } from './resolve-disk.ts';
import { wipeDisk } from './wipe-disk.ts';

/** With several paths to a drive the kernel numbers the disk by its subsystem: the controller has another number. */
const disk = {
  name: 'nvme0n1',
  controller: 'nvme3',
  node: '/dev/nvme0n1',
  serial: 'S1',
  sizeBytes: 2 ** 40,
} as SlotDisk;

interface Log {
  sprog: number;
  sstat: number;
}

/** As nvme-cli has printed the state of a drive: a sentence under one name or another, or the bare number. */
const PRINTED: Record<string, (sstat: number) => unknown> = {
  'a sentence': (sstat) => ({
    global_erased: sstat >> 8,
    no_cmplted_passes: (sstat >> 3) & 31,
    status: sentenceOf(sstat),
  }),
  'a sentence with its own name': (sstat) => ({
    global_erased: sstat >> 8,
    no_cmplted_passes: (sstat >> 3) & 31,
    [sentenceOf(sstat)]: sentenceOf(sstat),
  }),
  'a number': (sstat) => sstat,
};

function sentenceOf(sstat: number): string {
  const words = [
    'NVM Subsystem has never been sanitized.',
    'Most Recent Sanitize Command Completed Successfully.',
    'Sanitize in Progress.',
    'Most Recent Sanitize Command Failed.',
    'Most Recent Sanitize Command (No-Deallocate After Sanitize) Completed Successfully.',
  ];
  return `(${sstat & 7}) ${words[sstat & 7]}`;
}

/** A drive whose sanitize log shows these states one after the other. */
function drive(states: readonly Log[], { sanitizeCode = 0, print = PRINTED['a sentence']! } = {}) {
  const asked: string[] = [];
  const left = [...states];
  const run: RunCommand = async (tool, args) => {
    asked.push([tool, ...args].join(' '));
    if (args[0] === 'sanitize') return { code: sanitizeCode, stdout: '', stderr: 'Invalid Command Opcode' };
    const { sprog, sstat } = (left.length > 1 ? left.shift() : left[0])!;
    const log = { sprog, sstat: print(sstat), cdw10_info: 2 };
    return { code: 0, stdout: JSON.stringify({ nvme3: log }), stderr: '' };
  };
  const percents: number[] = [];
  const step = { signal: new AbortController().signal, percent: (at: number) => void percents.push(at) };
  return { asked, percents, wipe: () => wipeDisk(run, disk, 'nvme_sanitize', step) };
}

const SANITIZE = 'nvme sanitize /dev/nvme3 --sanact=2';

describe('a sanitize', () => {
  it.each(Object.entries(PRINTED))(
    'is asked of the controller and followed in its log, printed as %s',
    async (_, print) => {
      const { asked, percents, wipe } = drive(
        [
          { sprog: 65535, sstat: 0 },
          { sprog: 32768, sstat: 2 },
          { sprog: 65535, sstat: 0x101 },
        ],
        { print },
      );
      await wipe();
      expect(asked.filter((line) => line === SANITIZE)).toHaveLength(1);
      expect(asked.filter((line) => line.includes('sanitize-log /dev/nvme3')).length).toBeGreaterThan(2);
      expect(percents).toContain(50);
      expect(percents.at(-1)).toBe(100);
    },
  );

  it('is awaited and not restarted if it already runs after a power cut or a killed agent', async () => {
    const { asked, wipe } = drive([
      { sprog: 100, sstat: 2 },
      { sprog: 65535, sstat: 4 },
    ]);
    await wipe();
    expect(asked).not.toContain(SANITIZE);
  });

  it('is no wipe if the drive reports failure or an unknown state', async () => {
    const failed = drive([
      { sprog: 0, sstat: 0 },
      { sprog: 0, sstat: 3 },
    ]);
    await expect(failed.wipe()).rejects.toMatchObject({ code: 'wipe_failed' });
    await expect(drive([{ sprog: 0, sstat: 0 }], { sanitizeCode: 1 }).wipe()).rejects.toMatchObject({
      code: 'wipe_failed',
      message: expect.stringContaining('Invalid Command Opcode'),
    });
  });

  it('is no wipe, and is not started, if the log is unreadable', async () => {
    const { asked, wipe } = drive([{ sprog: 0, sstat: 0 }], { print: () => ({ state: 'unheard of' }) });
    await expect(wipe()).rejects.toMatchObject({
      code: 'wipe_failed',
      message: expect.stringContaining('unheard of'),
    });
    expect(asked).not.toContain(SANITIZE);
  });
});
