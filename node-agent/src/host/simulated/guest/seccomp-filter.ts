/** Refused with EPERM: doors to the kernel that no program of a tenant needs. Debuggers keep ptrace. */
const REFUSED = [
  'mount',
  'umount2',
  'pivot_root',
  'open_tree',
  'move_mount',
  'fsopen',
  'fsconfig',
  'fsmount',
  'fspick',
  'mount_setattr',
  'setns',
  'keyctl',
  'add_key',
  'request_key',
  'bpf',
  'perf_event_open',
  'userfaultfd',
  'io_uring_setup',
  'io_uring_enter',
  'io_uring_register',
  'kexec_load',
  'kexec_file_load',
  'init_module',
  'finit_module',
  'delete_module',
  'reboot',
  'swapon',
  'swapoff',
  'acct',
  'quotactl',
  'name_to_handle_at',
  'open_by_handle_at',
] as const;

/** Refused when they ask for a user namespace. */
const NAMESPACE_CALLS = ['clone', 'unshare'] as const;

/** A filter cannot see its flags; this answer makes the C library fall back to `clone`. */
const UNSEEN = 'clone3';

type SystemCall = (typeof REFUSED)[number] | (typeof NAMESPACE_CALLS)[number] | typeof UNSEEN;

/** The same number on every architecture. */
const NEWER = {
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  clone3: 435,
  mount_setattr: 442,
};

export const ARCHITECTURES: Readonly<
  Record<string, { audit: number; calls: Record<SystemCall, number>; otherAbiFrom: number | null }>
> = {
  x64: {
    audit: 0xc000_003e,
    // The x32 calls have different numbers.
    otherAbiFrom: 0x4000_0000,
    calls: {
      ...NEWER,
      clone: 56,
      pivot_root: 155,
      acct: 163,
      mount: 165,
      umount2: 166,
      swapon: 167,
      swapoff: 168,
      reboot: 169,
      init_module: 175,
      delete_module: 176,
      quotactl: 179,
      kexec_load: 246,
      add_key: 248,
      request_key: 249,
      keyctl: 250,
      unshare: 272,
      perf_event_open: 298,
      name_to_handle_at: 303,
      open_by_handle_at: 304,
      setns: 308,
      finit_module: 313,
      kexec_file_load: 320,
      bpf: 321,
      userfaultfd: 323,
    },
  },
  arm64: {
    audit: 0xc000_00b7,
    otherAbiFrom: null,
    calls: {
      ...NEWER,
      umount2: 39,
      mount: 40,
      pivot_root: 41,
      quotactl: 60,
      acct: 89,
      unshare: 97,
      kexec_load: 104,
      init_module: 105,
      delete_module: 106,
      reboot: 142,
      add_key: 217,
      request_key: 218,
      keyctl: 219,
      clone: 220,
      swapon: 224,
      swapoff: 225,
      perf_event_open: 241,
      name_to_handle_at: 264,
      open_by_handle_at: 265,
      setns: 268,
      finit_module: 273,
      bpf: 280,
      userfaultfd: 282,
      kexec_file_load: 294,
    },
  },
};

const CLONE_NEWUSER = 0x1000_0000;
const EPERM = 1;
const ENOSYS = 38;

/** Classic BPF: operation, jump when true, jump when false, operand. */
type Instruction = readonly [code: number, yes: number, no: number, operand: number];

const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_BITS = 0x45;
const RETURN = 0x06;
/** Offsets in `struct seccomp_data`. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;

const load = (offset: number): Instruction => [LOAD, 0, 0, offset];
const allow: Instruction = [RETURN, 0, 0, 0x7fff_0000];
const refuse = (errno: number): Instruction => [RETURN, 0, 0, 0x0005_0000 + errno];

export function hasSeccompFilter(architecture: string = process.arch): boolean {
  return architecture in ARCHITECTURES;
}

/** The filter that bubblewrap loads before a tenant's program; null for a processor without a table. */
export function seccompFilter(architecture: string): Buffer | null {
  const known = ARCHITECTURES[architecture];
  if (!known) return null;
  const { audit, calls, otherAbiFrom } = known;
  const program: Instruction[] = [
    load(ARCHITECTURE),
    [JUMP_EQUAL, 1, 0, audit],
    refuse(ENOSYS),
    load(NUMBER),
    ...(otherAbiFrom === null ? [] : [[JUMP_AT_LEAST, 0, 1, otherAbiFrom] as const, refuse(ENOSYS)]),
    [JUMP_EQUAL, 0, 1, calls[UNSEEN]],
    refuse(ENOSYS),
    ...REFUSED.flatMap((name) => [[JUMP_EQUAL, 0, 1, calls[name]] as const, refuse(EPERM)]),
    ...NAMESPACE_CALLS.flatMap((name) => [
      [JUMP_EQUAL, 0, 4, calls[name]] as const,
      load(FIRST_ARGUMENT),
      [JUMP_BITS, 0, 1, CLONE_NEWUSER] as const,
      refuse(EPERM),
      allow,
    ]),
    allow,
  ];
  return encode(program);
}

function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, yes, no, operand], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(yes, index * 8 + 2);
    bytes.writeUInt8(no, index * 8 + 3);
    bytes.writeUInt32LE(operand, index * 8 + 4);
  });
  return bytes;
}
