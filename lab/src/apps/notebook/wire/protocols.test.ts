import { describe, expect, it } from 'vitest';
import { decodeDefault, encodeDefault } from './default-protocol.ts';
import { newMessage, type KernelMessage } from './kernel-message.ts';
import { decodeV1, encodeV1 } from './v1-protocol.ts';

const parent = newMessage('session', 'shell', 'execute_request', {}, null).header;
const message = (buffers: Uint8Array[]): KernelMessage => ({
  ...newMessage('session', 'iopub', 'display_data', { text: 'grün 🚀' }, parent),
  buffers,
});

const protocols = {
  default: (sent: KernelMessage) => {
    const data = encodeDefault(sent);
    return decodeDefault(Buffer.from(data), typeof data !== 'string');
  },
  v1: (sent: KernelMessage) => decodeV1(encodeV1(sent)),
};

describe.each(Object.entries(protocols))('the %s protocol', (_name, roundTrip) => {
  it('gives messages back, with and without buffers', () => {
    for (const buffers of [[], [Buffer.from([1, 2, 3])], [Buffer.alloc(0), Buffer.alloc(70_000, 7)]])
      expect(roundTrip(message(buffers))).toEqual(expectLike(buffers));
  });
});

function expectLike(buffers: Uint8Array[]): unknown {
  const { channel, content } = message(buffers);
  return expect.objectContaining({ channel, content, parent_header: parent, buffers });
}

it('refuses offsets that lead out of the message', () => {
  const whole = encodeV1(message([Buffer.from('x')]));
  for (let index = 0; index < 8 * 8; index += 8) {
    const wrong = Buffer.from(whole);
    wrong.writeBigUInt64LE(2n ** 63n, index);
    expect(() => decodeV1(wrong)).toThrow();
  }
  for (let length = 0; length < whole.length; length += 7)
    expect(() => decodeV1(whole.subarray(0, length))).toThrow();
});
