import { randomInt } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import type { HostOperation, VerificationDepth, WipeProof } from '../../host.ts';
import { runOrThrow, type RunCommand } from '../commands.ts';
import { findSignatures } from './require-unused-disk.ts';
import type { SlotDisk } from './resolve-disk.ts';

const MIB = 2 ** 20;
/** Up to this size every byte is read. */
const SMALL_BYTES = 16 * 2 ** 30;
const SAMPLES = 512;

/**
 * Reads the disk back: a small disk entirely, a large one entirely if asked to and else at both ends and at random places;
 * also searches for signatures. The proof states how much was read.
 */
export async function verifyWipe(
  run: RunCommand,
  disk: SlotDisk,
  depth: VerificationDepth,
  step: HostOperation,
): Promise<WipeProof> {
  // The page cache proves nothing about the disk.
  await runOrThrow(run, 'disk_unreadable', 'blockdev', ['--flushbufs', disk.node], { timeoutMs: 60_000 });
  const places = depth === 'full' ? 'all' : placesToRead(disk.sizeBytes);
  const file = await open(disk.node, 'r');
  let residue: number | null;
  try {
    residue = await firstResidue(file, places, disk.sizeBytes, step);
  } finally {
    await file.close();
  }
  const signatures = await findSignatures(run, disk);
  const read =
    places === 'all'
      ? `all ${disk.sizeBytes} bytes`
      : `${places.length} MiB of ${disk.sizeBytes} bytes (samples, ${share(places.length * MIB, disk.sizeBytes)} %)`;
  const found = [
    ...(residue === null ? [] : [`data at byte ${residue}`]),
    ...(signatures.length === 0 ? [] : [`signatures: ${signatures.join(', ')}`]),
  ];
  return {
    verified: found.length === 0,
    verification: `read back ${read}: ${found.join('; ') || 'all zero, no signature'}`.slice(0, 500),
    tools: [{ name: 'wipefs', version: await versionOf(run, 'wipefs') }],
  };
}

/** Two significant digits: the share of a large disk is far below one percent. */
function share(part: number, whole: number): string {
  return Number(((100 * part) / whole).toPrecision(2)).toString();
}

function placesToRead(size: number): 'all' | number[] {
  if (size <= SMALL_BYTES) return 'all';
  const last = Math.floor((size - MIB) / MIB);
  const random = Array.from({ length: SAMPLES }, () => randomInt(1, last) * MIB);
  return [0, ...random.toSorted((a, b) => a - b), size - MIB];
}

/** Where the first byte that is not zero was seen. */
async function firstResidue(
  file: FileHandle,
  places: 'all' | number[],
  size: number,
  step: HostOperation,
): Promise<number | null> {
  const buffer = Buffer.alloc(places === 'all' ? 4 * MIB : MIB);
  const zeroes = Buffer.alloc(buffer.length);
  const count = places === 'all' ? Math.ceil(size / buffer.length) : places.length;
  for (let index = 0; index < count; index += 1) {
    step.signal.throwIfAborted();
    const at = places === 'all' ? index * buffer.length : (places[index] ?? 0);
    const wanted = Math.min(buffer.length, size - at);
    const { bytesRead } = await file.read(buffer, 0, wanted, at);
    // A disk that does not return all of its bytes has not proven that they are erased.
    if (bytesRead !== wanted) return at + bytesRead;
    if (buffer.compare(zeroes, 0, wanted, 0, wanted) !== 0)
      return at + buffer.findIndex((byte) => byte !== 0);
    if (index % 16 === 0) step.percent((index / count) * 100);
  }
  return null;
}

async function versionOf(run: RunCommand, tool: string): Promise<string> {
  const result = await run(tool, ['--version']);
  return (/\d+(\.\d+)+/.exec(result?.stdout ?? '')?.[0] ?? 'unknown').slice(0, 64);
}
