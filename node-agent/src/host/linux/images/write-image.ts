import { open } from 'node:fs/promises';
import { TaskError } from '../../../tasks/task-error.ts';
import type { HostOperation } from '../../host.ts';
import { runOrThrow, type RunCommand } from '../commands.ts';
import type { SlotDisk } from '../disks/resolve-disk.ts';

interface ImageInfo {
  'virtual-size': number;
  encrypted?: boolean;
  'backing-filename'?: string;
  'format-specific'?: { data?: { 'data-file'?: string } };
}

/** Properties of a slot's disk that are used here. */
type TargetDisk = Pick<SlotDisk, 'serial' | 'node' | 'sizeBytes'>;

const HOUR_MS = 3_600_000;
const QCOW2 = Buffer.from('QFI\xfb', 'latin1');

/** Writes the image to the disk as it is and compares the two byte for byte. */
export async function writeImage(
  run: RunCommand,
  file: string,
  disk: TargetDisk,
  step: HostOperation,
): Promise<void> {
  const format = await formatOf(file);
  const size = await checkImage(run, file, format, disk);
  const options = { timeoutMs: HOUR_MS, signal: step.signal, diesWithAgent: true };
  // Bypasses the page cache, so that the comparison reads the disk itself.
  const convert = ['convert', '-p', '-n', '-t', 'none', '-f', format, '-O', 'raw', file, disk.node];
  await runOrThrow(run, 'image_clone_failed', 'qemu-img', convert, {
    ...options,
    onOutput: percentOf((percent) => step.percent(percent / 2, 'Writing the image')),
  });
  const compare = [
    'compare',
    '-p',
    '--image-opts',
    `driver=${format},file.driver=file,file.filename=${quoted(file)}`,
    `driver=raw,size=${size},file.driver=host_device,file.filename=${quoted(disk.node)}`,
  ];
  await runOrThrow(run, 'image_clone_failed', 'qemu-img', compare, {
    ...options,
    onOutput: percentOf((percent) => step.percent(50 + percent / 2, 'Comparing disk and image')),
  });
}

/**
 * A file that is not qcow2 is treated as raw; with QEMU's own detection the content of a disk would choose
 * its format.
 */
async function formatOf(path: string): Promise<'qcow2' | 'raw'> {
  const file = await open(path, 'r');
  try {
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return buffer.equals(QCOW2) ? 'qcow2' : 'raw';
  } finally {
    await file.close();
  }
}

/** An image that refers to other files could carry any file of the host to a tenant. */
async function checkImage(run: RunCommand, file: string, format: string, disk: TargetDisk): Promise<number> {
  const text = await runOrThrow(run, 'image_unusable', 'qemu-img', [
    'info',
    '-f',
    format,
    '--output=json',
    file,
  ]);
  const info: ImageInfo = JSON.parse(text);
  if (info['backing-filename'] || info['format-specific']?.data?.['data-file']) {
    throw new TaskError('image_unusable', 'the image refers to another file');
  }
  if (info.encrypted) throw new TaskError('image_unusable', 'the image is encrypted');
  const size = info['virtual-size'];
  if (size > disk.sizeBytes) {
    const detail = `the image has ${size} bytes, disk ${disk.serial} only ${disk.sizeBytes}`;
    throw new TaskError('image_unusable', detail);
  }
  return size;
}

/** qemu-img repeats `    (12.34/100%)`. */
function percentOf(report: (percent: number) => void): (text: string) => void {
  return (text) => {
    const last = [...text.matchAll(/\(\s*([\d.]+)\/100%\)/g)].at(-1)?.[1];
    if (last) report(Number(last));
  };
}

/** A comma in a name is written twice. */
function quoted(path: string): string {
  return path.replaceAll(',', ',,');
}
