import { isRecord } from '@gpuaas/contracts/is-record';
import type { KernelMessage } from './kernel-message.ts';
import { readMessage } from './read-message.ts';

/** JSON text; with buffers: their number and offsets as 32-bit big-endian numbers, the JSON, the buffers. */
export function encodeDefault({ buffers, ...message }: KernelMessage): string | Buffer {
  const json = JSON.stringify({ ...message, buffers: [] });
  if (buffers.length === 0) return json;
  const parts = [Buffer.from(json), ...buffers];
  const head = Buffer.alloc(4 * (parts.length + 1));
  head.writeUInt32BE(parts.length, 0);
  let offset = head.length;
  for (const [index, part] of parts.entries()) {
    head.writeUInt32BE(offset, 4 * (index + 1));
    offset += part.byteLength;
  }
  return Buffer.concat([head, ...parts]);
}

export function decodeDefault(data: Buffer, binary: boolean): KernelMessage {
  if (!binary) return parse(data, []);
  const count = data.readUInt32BE(0);
  if (count === 0 || 4 * (count + 1) > data.length) throw new Error('The message has wrong offsets');
  const offsets = Array.from({ length: count }, (_, index) => data.readUInt32BE(4 * (index + 1)));
  const parts = offsets.map((start, index) => {
    const end = offsets[index + 1] ?? data.length;
    if (start > end || end > data.length) throw new Error('The message has wrong offsets');
    return data.subarray(start, end);
  });
  return parse(parts[0] ?? Buffer.alloc(0), parts.slice(1));
}

function parse(json: Buffer, buffers: readonly Uint8Array[]): KernelMessage {
  const fields: unknown = JSON.parse(json.toString('utf8'));
  if (!isRecord(fields)) throw new Error('The message is no object');
  return readMessage(fields, buffers);
}
