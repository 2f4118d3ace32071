import type { Guest } from '@gpuaas/control-plane/domains/apps/executors/allocation/guest';
import type { MemberSpec } from '@gpuaas/control-plane/domains/apps/executors/allocation/members';
import { newId } from '@gpuaas/control-plane/platform/ids';

/** A machine, or a user of one, in which the runner must behave as everywhere. */
export interface RunnerPlace {
  /** Enters it; the suite closes what it opened. */
  enter(): Promise<Guest>;
  /** A command that listens on the port. */
  listen(port: number): string[];
  /** Shell commands that fill the disk of the home folder and free it again; null where that would hurt others. */
  disk: { fill: string; free: string } | null;
  close(): Promise<void>;
}

/** What the tenant does in their own machine. */
export async function asTenant(guest: Guest, command: string): Promise<string> {
  const output = await guest.run({ command, maxBytes: 1024 * 1024, deadlineMs: 60_000 });
  return output.toString('utf8').trim();
}

export function memberSpec(command: readonly string[], change: Partial<MemberSpec> = {}): MemberSpec {
  return {
    memberId: newId(),
    command,
    env: {},
    payload: null,
    ports: [],
    limits: { memoryBytes: null, openFiles: null, logBytes: 4 * 1024 * 1024 },
    ...change,
  };
}

export function shell(script: string): string[] {
  return ['sh', '-c', script];
}
