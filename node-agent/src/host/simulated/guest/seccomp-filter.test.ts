import { describe, expect, it } from 'vitest';
import { ARCHITECTURES, seccompFilter } from './seccomp-filter.ts';

const ALLOWED = 0x7fff_0000;
const errno = (number: number): number => 0x0005_0000 + number;

/** Runs the filter as the kernel would. */
function verdict(filter: Buffer, call: { audit: number; number: number; argument?: number }): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number, 0);
  data.writeUInt32LE(call.audit, 4);
  data.writeUInt32LE(call.argument ?? 0, 16);
  let accumulator = 0;
  for (let at = 0; at < filter.length / 8; at += 1) {
    const code = filter.readUInt16LE(at * 8);
    const operand = filter.readUInt32LE(at * 8 + 4);
    if (code === 0x06) return operand;
    if (code === 0x20) accumulator = data.readUInt32LE(operand);
    else {
      const holds =
        code === 0x15
          ? accumulator === operand
          : code === 0x35
            ? accumulator >= operand
            : (accumulator & operand) !== 0;
      at += filter.readUInt8(at * 8 + (holds ? 2 : 3));
    }
  }
  throw new Error('the filter ends without a verdict');
}

describe.each(Object.entries(ARCHITECTURES))('the filter for %s', (name, { audit, calls, otherAbiFrom }) => {
  const filter = seccompFilter(name)!;
  const asked = (number: number, argument = 0) => verdict(filter, { audit, number, argument });

  it('refuses every call of its list, and clone3 as one that does not exist', () => {
    for (const [call, number] of Object.entries(calls)) {
      if (call === 'clone' || call === 'unshare') continue;
      expect(asked(number), call).toBe(errno(call === 'clone3' ? 38 : 1));
    }
  });

  it('refuses a user namespace however it is asked for, and nothing else of clone and unshare', () => {
    for (const call of ['clone', 'unshare'] as const) {
      expect(asked(calls[call], 0x1000_0000), call).toBe(errno(1));
      expect(asked(calls[call], 0x1000_0000 | 0x0002_0000 | 17), call).toBe(errno(1));
      expect(asked(calls[call], 0x0100_0000 | 17), call).toBe(ALLOWED);
    }
  });

  it('allows every other call', () => {
    const listed = new Set(Object.values(calls));
    for (let number = 0; number < 600; number += 1)
      if (!listed.has(number)) expect(asked(number), String(number)).toBe(ALLOWED);
  });

  it('refuses the calls of another processor or interface', () => {
    expect(verdict(filter, { audit: 0x4000_0003, number: 1 })).toBe(errno(38));
    if (otherAbiFrom !== null) expect(asked(otherAbiFrom + 1)).toBe(errno(38));
  });
});

it('is not made for a processor whose calls are unknown', () => {
  expect(seccompFilter('riscv64')).toBeNull();
});
