import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attachLoopDisk, detachLoopDisk, type LoopDisk } from '@gpuaas/lab/vm/loop-disks';
import { runCommand, type RunCommand } from '@gpuaas/node-agent/host/linux/commands';
import { writeImage } from '@gpuaas/node-agent/host/linux/images/write-image';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { whyNoVmLab } from '../harness/fleet/vm-lab-needs.ts';

const obstacle = whyNoVmLab();
const MIB = 2 ** 20;
const DISK_BYTES = 96 * MIB;

describe.skipIf(obstacle !== null)(`an image on a disk (${obstacle ?? 'needs nothing more'})`, () => {
  let folder: string;
  let loop: LoopDisk;
  let raw: Buffer;
  let image: string;
  let percents: number[];
  const step = { signal: new AbortController().signal, percent: (at: number) => void percents.push(at) };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gpuaas-write-image-'));
    loop = attachLoopDisk(join(folder, 'disk.img'), DISK_BYTES);
    percents = [];
    // Data, a hole in which the disk holds other bytes, and data again.
    raw = Buffer.concat([randomBytes(20 * MIB), Buffer.alloc(24 * MIB), randomBytes(20 * MIB)]);
    writeFileSync(join(folder, 'disk.raw'), raw);
    image = join(folder, 'disk.qcow2');
    execFileSync('qemu-img', ['convert', '-c', '-O', 'qcow2', join(folder, 'disk.raw'), image]);
    overwrite(0, randomBytes(80 * MIB));
  });
  afterEach(() => {
    detachLoopDisk(loop);
    rmSync(folder, { recursive: true, force: true });
  });

  const disk = () => ({ serial: 'S1', node: loop.node, sizeBytes: loop.sizeBytes });
  function overwrite(at: number, bytes: Buffer): void {
    const file = openSync(loop.node, 'r+');
    writeSync(file, bytes, 0, bytes.length, at);
    fsyncSync(file);
    closeSync(file);
  }

  it('is written byte for byte, holes included, with progress', async () => {
    await writeImage(runCommand, image, disk(), step);
    expect(readFileSync(loop.node).subarray(0, raw.length).equals(raw)).toBe(true);
    expect(percents.length).toBeGreaterThan(4);
    expect(percents).toEqual(percents.toSorted((a, b) => a - b));
    expect(percents.at(-1)).toBe(100);
  });

  it('is refused when the disk holds one other byte than was written', async () => {
    const forgetful: RunCommand = async (tool, args, options) => {
      const result = await runCommand(tool, args, options);
      if (args[0] === 'convert') overwrite(50 * MIB, Buffer.from([raw[50 * MIB]! ^ 1]));
      return result;
    };
    await expect(writeImage(forgetful, image, disk(), step)).rejects.toMatchObject({
      code: 'image_clone_failed',
      message: expect.stringContaining('mismatch'),
    });
  });

  it('that does not fit, or leads to another file, is refused before anything is written', async () => {
    const before = readFileSync(loop.node);
    execFileSync('qemu-img', ['create', '-q', '-f', 'qcow2', image, '200M']);
    await expect(writeImage(runCommand, image, disk(), step)).rejects.toMatchObject({
      code: 'image_unusable',
    });
    const words = ['create', '-q', '-f', 'qcow2', '-F', 'raw', '-b', '/etc/passwd', image];
    execFileSync('qemu-img', words);
    await expect(writeImage(runCommand, image, disk(), step)).rejects.toMatchObject({
      code: 'image_unusable',
    });
    expect(readFileSync(loop.node).equals(before)).toBe(true);
  });
});
