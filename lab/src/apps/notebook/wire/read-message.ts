import { isRecord } from '@gpuaas/contracts/is-record';
import { textOf } from '../../text-of.ts';
import type { Channel, KernelMessage } from './kernel-message.ts';

const CHANNELS: readonly Channel[] = ['shell', 'control', 'iopub', 'stdin'];

/** Checks a message of a client. Throws with what is wrong. */
export function readMessage(
  fields: Readonly<Record<string, unknown>>,
  buffers: readonly Uint8Array[],
): KernelMessage {
  const { header, parent_header: parent, metadata, content } = fields;
  const channel = CHANNELS.find((name) => name === fields['channel']);
  if (!channel) throw new Error('The message has no channel');
  if (!isRecord(header)) throw new Error('The message has no header');
  const text = (name: string): string => {
    const value = header[name];
    if (typeof value !== 'string') throw new Error(`The header has no ${name}`);
    return value;
  };
  return {
    channel,
    header: {
      msg_id: text('msg_id'),
      msg_type: text('msg_type'),
      session: text('session'),
      username: textOf(header['username']),
      date: textOf(header['date']),
      version: textOf(header['version']),
    },
    parent_header: isRecord(parent) && Object.keys(parent).length > 0 ? readParent(parent) : {},
    metadata: isRecord(metadata) ? metadata : {},
    content: isRecord(content) ? content : {},
    buffers,
  };
}

function readParent(parent: Readonly<Record<string, unknown>>): KernelMessage['header'] {
  const text = (name: string): string => textOf(parent[name]);
  return {
    msg_id: text('msg_id'),
    msg_type: text('msg_type'),
    session: text('session'),
    username: text('username'),
    date: text('date'),
    version: text('version'),
  };
}
