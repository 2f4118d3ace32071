import { expect, it } from 'vitest';
import { pciSerialNumber } from './pci-serial.ts';

function config(capabilities: { at: number; id: number; next: number; serial?: bigint }[]): Buffer {
  const bytes = Buffer.alloc(4096);
  for (const { at, id, next, serial } of capabilities) {
    bytes.writeUInt32LE(((next << 20) | (1 << 16) | id) >>> 0, at);
    if (serial !== undefined) bytes.writeBigUInt64LE(serial, at + 4);
  }
  return bytes;
}

it('reads the serial number wherever it stands in the chain', () => {
  const serial = 0x48b02d0300aabbccn;
  const chain = [
    { at: 0x100, id: 0x02, next: 0x258 },
    { at: 0x258, id: 0x1e, next: 0x2c0 },
    { at: 0x2c0, id: 0x03, next: 0, serial },
  ];
  expect(pciSerialNumber(config(chain))).toBe('48-b0-2d-03-00-aa-bb-cc');
});

it('says nothing of cards without one, of short reads and of chains that turn in a circle', () => {
  expect(pciSerialNumber(null)).toBeNull();
  expect(pciSerialNumber(Buffer.alloc(64))).toBeNull();
  expect(pciSerialNumber(Buffer.alloc(4096))).toBeNull();
  expect(pciSerialNumber(config([{ at: 0x100, id: 2, next: 0x100 }]))).toBeNull();
  expect(pciSerialNumber(config([{ at: 0x100, id: 3, next: 0, serial: 0n }]))).toBeNull();
});
