import { randomUUID } from 'node:crypto';

export type Channel = 'shell' | 'control' | 'iopub' | 'stdin';

export interface MessageHeader {
  msg_id: string;
  msg_type: string;
  session: string;
  username: string;
  date: string;
  version: string;
}

/** A message of Jupyter's kernel protocol. */
export interface KernelMessage {
  channel: Channel;
  header: MessageHeader;
  parent_header: MessageHeader | Record<string, never>;
  metadata: Record<string, unknown>;
  content: Record<string, unknown>;
  buffers: readonly Uint8Array[];
}

export const PROTOCOL_VERSION = '5.3';

/** A message of the kernel, as an answer to `parent`. */
export function newMessage(
  session: string,
  channel: Channel,
  type: string,
  content: Record<string, unknown>,
  parent: MessageHeader | null,
): KernelMessage {
  return {
    channel,
    header: {
      msg_id: randomUUID(),
      msg_type: type,
      session,
      username: 'kernel',
      date: new Date().toISOString(),
      version: PROTOCOL_VERSION,
    },
    parent_header: parent ?? {},
    metadata: {},
    content,
    buffers: [],
  };
}
