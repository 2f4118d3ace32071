import { seccompFilter } from './seccomp-filter.ts';

/**
 * A program of a few instructions: it loads the filter of system calls and then runs its arguments, of which the first
 * is an absolute path. A session joins a guest that already runs, so bubblewrap cannot load the filter for it; `nsenter`
 * and `setpriv` of the systems we support cannot either, and the guest may have no interpreter that can. Null for a
 * processor without a filter.
 */
export function confineProgram(architecture: string = process.arch): Buffer | null {
  const filter = seccompFilter(architecture);
  const processor = PROCESSORS[architecture];
  if (!filter || !processor) return null;
  const filterAt = HEADERS + processor.code.length + FILTER_POINTER;
  const pointer = Buffer.alloc(FILTER_POINTER);
  pointer.writeUInt16LE(filter.length / 8, 0);
  pointer.writeBigUInt64LE(BigInt(BASE + filterAt), 8);
  const headers = elfHeaders(processor.machine, filterAt + filter.length);
  return Buffer.concat([headers, processor.code, pointer, filter]);
}

const BASE = 0x40_0000;
const ELF_HEADER = 64;
const PROGRAM_HEADER = 56;
const HEADERS = ELF_HEADER + 2 * PROGRAM_HEADER;
/** `struct sock_fprog`. It follows the code directly, where the code looks for it. */
const FILTER_POINTER = 16;

// prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, the filter);
// execve(argv[1], &argv[1], environ). Ends with 126 when one of them fails: never an unfiltered program.
const X64 = `
  b89d000000       mov   eax, 157
  bf26000000       mov   edi, 38
  be01000000       mov   esi, 1
  31d2             xor   edx, edx
  4531d2           xor   r10d, r10d
  4531c0           xor   r8d, r8d
  0f05             syscall
  85c0             test  eax, eax
  7534             jne   fail
  b89d000000       mov   eax, 157
  bf16000000       mov   edi, 22
  be02000000       mov   esi, 2
  488d152d000000   lea   rdx, [rip + 0x2d]
  0f05             syscall
  85c0             test  eax, eax
  7518             jne   fail
  488b0424         mov   rax, [rsp]
  488d742410       lea   rsi, [rsp + 16]
  488b3e           mov   rdi, [rsi]
  488d54c410       lea   rdx, [rsp + rax * 8 + 16]
  b83b000000       mov   eax, 59
  0f05             syscall
  bf7e000000       mov   edi, 126
  b8e7000000       mov   eax, 231
  0f05             syscall
  909090           nop; nop; nop`;

const ARM64 = `
  c00480d2         movz  x0, #38
  210080d2         movz  x1, #1
  020080d2         movz  x2, #0
  030080d2         movz  x3, #0
  040080d2         movz  x4, #0
  e81480d2         movz  x8, #167
  010000d4         svc   #0
  a00100b5         cbnz  x0, fail
  c00280d2         movz  x0, #22
  410080d2         movz  x1, #2
  c2010010         adr   x2, the filter
  e81480d2         movz  x8, #167
  010000d4         svc   #0
  e00000b5         cbnz  x0, fail
  e90340f9         ldr   x9, [sp]
  e1430091         add   x1, sp, #16
  200040f9         ldr   x0, [x1]
  220c098b         add   x2, x1, x9, lsl #3
  a81b80d2         movz  x8, #221
  010000d4         svc   #0
  c00f80d2         movz  x0, #126
  c80b80d2         movz  x8, #94
  010000d4         svc   #0
  1f2003d5         nop`;

const PROCESSORS: Readonly<Record<string, { machine: number; code: Buffer }>> = {
  x64: { machine: 62, code: assemble(X64) },
  arm64: { machine: 183, code: assemble(ARM64) },
};

/** The first word of each line; the rest says what it is. */
function assemble(listing: string): Buffer {
  const bytes = listing
    .trim()
    .split('\n')
    .map((line) => line.trim().split(' ')[0]);
  return Buffer.from(bytes.join(''), 'hex');
}

/** One readable and executable segment with everything, and a stack that is not executable. */
function elfHeaders(machine: number, length: number): Buffer {
  const header = Buffer.alloc(HEADERS);
  header.write('7f454c46020101', 0, 'hex');
  header.writeUInt16LE(2, 16);
  header.writeUInt16LE(machine, 18);
  header.writeUInt32LE(1, 20);
  header.writeUInt32LE(BASE + HEADERS, 24);
  header.writeUInt32LE(ELF_HEADER, 32);
  header.writeUInt16LE(ELF_HEADER, 52);
  header.writeUInt16LE(PROGRAM_HEADER, 54);
  header.writeUInt16LE(2, 56);
  const load = header.subarray(ELF_HEADER);
  load.writeUInt32LE(1, 0);
  load.writeUInt32LE(READ | EXECUTE, 4);
  load.writeUInt32LE(BASE, 16);
  load.writeUInt32LE(BASE, 24);
  load.writeUInt32LE(length, 32);
  load.writeUInt32LE(length, 40);
  load.writeUInt32LE(0x1_0000, 48);
  const stack = header.subarray(ELF_HEADER + PROGRAM_HEADER);
  stack.writeUInt32LE(0x6474_e551, 0);
  stack.writeUInt32LE(READ | WRITE, 4);
  stack.writeUInt32LE(16, 48);
  return header;
}

const EXECUTE = 1;
const WRITE = 2;
const READ = 4;
