import type { HostFiles } from '../host-files.ts';

export interface Mount {
  /** `major:minor`; file systems that span devices have their own number. */
  number: string;
  mountPoint: string;
  fsType: string;
  source: string;
}

/** The mounts of the machine, not those of the agent: a systemd service may have its own mount namespace. */
export function readMounts(files: HostFiles): Mount[] {
  const table = files.text('/proc/1/mountinfo') ?? files.text('/proc/self/mountinfo') ?? '';
  return table.split('\n').flatMap(parseLine);
}

/** `36 35 98:0 /root /mnt rw,noatime master:1 - ext3 /dev/root rw`, see proc_pid_mountinfo(5). */
function parseLine(line: string): Mount[] {
  const [left, right] = line.split(' - ');
  const [, , number, , mountPoint] = left?.split(' ') ?? [];
  const [fsType, source] = right?.split(' ') ?? [];
  if (!number || !mountPoint || !fsType || source === undefined) return [];
  return [{ number, mountPoint: unescape(mountPoint), fsType, source: unescape(source) }];
}

/** Names of block devices or files in use as swap. */
export function readSwaps(files: HostFiles): string[] {
  const [, ...lines] = (files.text('/proc/swaps') ?? '').split('\n');
  return lines.flatMap((line) => line.split(/\s+/)[0] || []).map(unescape);
}

function unescape(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_all, code: string) => String.fromCharCode(parseInt(code, 8)));
}
