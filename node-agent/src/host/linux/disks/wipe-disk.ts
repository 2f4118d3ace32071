import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pause } from '../../../backoff.ts';
import { TaskError } from '../../../tasks/task-error.ts';
import type { Step, WipeMethod } from '../../host.ts';
import { mustRun, type RunCommand } from '../commands.ts';
import type { SlotDisk } from './resolve-disk.ts';
import { readSanitizeLog } from './sanitize-log.ts';

type Wipe = (run: RunCommand, disk: SlotDisk, step: Step) => Promise<void>;

const HOUR_MS = 3_600_000;
const MIB = 2 ** 20;

const METHODS: Record<WipeMethod, Wipe> = {
  async blkdiscard(run, disk, step) {
    await wipeBy(run, 'blkdiscard', ['--force', disk.node], step);
  },
  /** User data erase of the namespace; the drive answers when it is done. */
  async nvme_format(run, disk, step) {
    await wipeBy(run, 'nvme', ['format', disk.node, '--ses=1', '--force'], step);
  },
  nvme_sanitize: sanitize,
  overwrite,
};

/** Overwrites everything on the disk by the slot's policy. Whether it worked is for `verifyWipe` to say. */
export async function wipeDisk(
  run: RunCommand,
  disk: SlotDisk,
  method: WipeMethod,
  step: Step,
): Promise<void> {
  await METHODS[method](run, disk, step);
  step.percent(100);
}

async function wipeBy(run: RunCommand, tool: string, args: string[], { signal }: Step): Promise<void> {
  await mustRun(run, 'wipe_failed', tool, args, { timeoutMs: HOUR_MS, signal, diesWithAgent: true });
}

/** Block erase of the whole controller, which goes on over resets and power cuts until it is done. */
async function sanitize(run: RunCommand, disk: SlotDisk, step: Step): Promise<void> {
  if (!disk.controller) throw new TaskError('wipe_failed', `${disk.node} has no NVMe controller to ask`);
  const controller = join(dirname(disk.node), disk.controller);
  if ((await readSanitizeLog(run, controller)).state !== 'going on') {
    await wipeBy(run, 'nvme', ['sanitize', controller, '--sanact=2'], step);
  }
  const end = Date.now() + HOUR_MS;
  for (;;) {
    const { state, percent } = await readSanitizeLog(run, controller);
    step.percent(percent);
    if (state === 'done') return;
    if (state === 'failed') throw new TaskError('wipe_failed', `${controller} says that the sanitize failed`);
    if (Date.now() > end)
      throw new TaskError('wipe_failed', `${controller} did not end its sanitize in time`);
    await pause(2_000, step.signal);
    step.signal.throwIfAborted();
  }
}

async function overwrite(_run: RunCommand, disk: SlotDisk, step: Step): Promise<void> {
  const zeroes = Buffer.alloc(4 * MIB);
  const file = await open(disk.node, 'r+');
  try {
    for (let at = 0; at < disk.sizeBytes; at += zeroes.length) {
      step.signal.throwIfAborted();
      await file.write(zeroes, 0, Math.min(zeroes.length, disk.sizeBytes - at), at);
      if (at % (64 * MIB) === 0) step.percent((at / disk.sizeBytes) * 100);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}
