import type { KernelMessage } from './kernel-message.ts';
import { readMessage } from './read-message.ts';

export const V1_PROTOCOL = 'v1.kernel.websocket.jupyter.org';

const PARTS = 5;

/**
 * The number of offsets and the offsets as 64-bit little-endian numbers, then channel, header, parent header, metadata,
 * content and buffers. The last offset is the end.
 */
export function encodeV1(message: KernelMessage): Buffer {
  const { channel, header, parent_header, metadata, content, buffers } = message;
  const parts = [
    Buffer.from(channel),
    ...[header, parent_header, metadata, content].map((part) => Buffer.from(JSON.stringify(part))),
    ...buffers,
  ];
  const head = Buffer.alloc(8 * (parts.length + 2));
  head.writeBigUInt64LE(BigInt(parts.length + 1), 0);
  let offset = head.length;
  head.writeBigUInt64LE(BigInt(offset), 8);
  for (const [index, part] of parts.entries()) {
    offset += part.byteLength;
    head.writeBigUInt64LE(BigInt(offset), 8 * (index + 2));
  }
  return Buffer.concat([head, ...parts]);
}

export function decodeV1(data: Buffer): KernelMessage {
  const count = Number(data.readBigUInt64LE(0));
  if (count < PARTS + 1 || 8 * (count + 1) > data.length) throw new Error('The message has wrong offsets');
  const offsets = Array.from({ length: count }, (_, index) => Number(data.readBigUInt64LE(8 * (index + 1))));
  const parts = offsets.slice(1).map((end, index) => {
    const start = offsets[index] ?? 0;
    if (start > end || end > data.length) throw new Error('The message has wrong offsets');
    return data.subarray(start, end);
  });
  const [channel, header, parent, metadata, content, ...buffers] = parts;
  const fields = {
    channel: channel?.toString('utf8'),
    header: parse(header),
    parent_header: parse(parent),
    metadata: parse(metadata),
    content: parse(content),
  };
  return readMessage(fields, buffers);
}

function parse(part: Buffer | undefined): unknown {
  const value: unknown = JSON.parse(part?.toString('utf8') ?? '');
  return value;
}
