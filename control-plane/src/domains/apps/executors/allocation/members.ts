import type { Readable } from 'node:stream';

export interface MemberPayload {
  /** Of the bytes that `open` gives, as the blob store writes it: `sha256:` and 64 hexadecimal digits. */
  digest: string;
  size: number;
  /** A tar archive (plain or gzip) is unpacked; a file becomes the executable `payload`. Both into the member's folder. */
  kind: 'tar' | 'file';
  open(): Promise<Readable>;
}

export interface MemberLimits {
  /** Data of each process; null for no limit. */
  memoryBytes: number | null;
  openFiles: number | null;
  /** Output kept in the machine, about: the oldest goes first. */
  logBytes: number;
}

/** What runs in a machine as one member of an app instance. */
export interface MemberSpec {
  /** Names the member in the machine: with it, a second start finds the first. */
  memberId: string;
  /** Runs in the member's folder. */
  command: readonly string[];
  /** Reaches the member without a command line or a file that stays. */
  env: Readonly<Record<string, string>>;
  payload: MemberPayload | null;
  /** TCP ports that the member will listen on. A start is refused while anything else listens there. */
  ports: readonly number[];
  limits: MemberLimits;
}

export interface MemberObservation {
  memberId: string;
  /** `exited` also if it is unknown how: the machine was rebooted, or the tenant ended the supervisor. */
  state: 'absent' | 'running' | 'exited';
  pid: number | null;
  exitCode: number | null;
  /** Number of the signal that ended it, as shells tell it. */
  signal: number | null;
  /** The kernel killed it for memory. */
  oom: boolean;
  startedAt: Date | null;
  endedAt: Date | null;
  /** Of the processes that run now. */
  cpuSeconds: number;
  memoryBytes: number;
  listening: number[];
  filesPresent: boolean;
  /** Written so far, with what is no longer kept. */
  logBytes: number;
}

export interface GpuObservation {
  index: number;
  utilisationPercent: number;
  memoryUsedMb: number;
}

export interface GuestObservation {
  members: MemberObservation[];
  gpus: GpuObservation[];
}

/** What was seen after a stop: nothing is left if there is no process, no port and no file. */
export interface TeardownEvidence {
  processes: number;
  ports: number[];
  files: boolean;
  forced: boolean;
  observedAt: Date;
}

export interface GuestProbe {
  uid: number;
  processors: number;
  memoryBytes: number;
  diskFreeBytes: number;
  /** Tools that the runner needs and the machine lacks. */
  missing: string[];
  node: boolean;
  podman: boolean;
  nvidiaSmi: boolean;
}

export interface LogChunk {
  /** Of the first byte; later than asked for if the older ones are gone. */
  offset: number;
  bytes: Buffer;
  /** All bytes written so far. */
  size: number;
}
