import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sleep } from '../../../backoff.ts';
import { TaskError } from '../../../tasks/task-error.ts';
import type { HostOperation, WipeMethod } from '../../host.ts';
import { runOrThrow, type RunCommand } from '../commands.ts';
import type { SlotDisk } from './resolve-disk.ts';
import { readSanitizeLog } from './sanitize-log.ts';

type Wipe = (run: RunCommand, disk: SlotDisk, step: HostOperation) => Promise<void>;

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

/** Overwrites the whole disk by the slot's policy. `verifyWipe` decides whether it worked. */
export async function wipeDisk(
  run: RunCommand,
  disk: SlotDisk,
  method: WipeMethod,
  step: HostOperation,
): Promise<void> {
  await METHODS[method](run, disk, step);
  step.percent(100);
}

async function wipeBy(
  run: RunCommand,
  tool: string,
  args: string[],
  { signal }: HostOperation,
): Promise<void> {
  await runOrThrow(run, 'wipe_failed', tool, args, { timeoutMs: HOUR_MS, signal, diesWithAgent: true });
}

/** Block erase of the whole controller, which continues over resets and power cuts until done. */
async function sanitize(run: RunCommand, disk: SlotDisk, step: HostOperation): Promise<void> {
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
    await sleep(2_000, step.signal);
    step.signal.throwIfAborted();
  }
}

async function overwrite(_run: RunCommand, disk: SlotDisk, step: HostOperation): Promise<void> {
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
