import { globSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

/** Processor time of a Postgres server so far, with its backends; from /proc, so zero without it. */
export function processorSeconds(dataDirectory: string): number {
  const postmaster = Number(readFileSync(`${dataDirectory}/postmaster.pid`, 'utf8').split('\n')[0]);
  let ticks = 0;
  for (const file of globSync('/proc/[0-9]*/stat')) {
    try {
      const { pid, parent, own, ended } = parse(readFileSync(file, 'utf8'));
      if (pid === postmaster) ticks += own + ended;
      else if (parent === postmaster) ticks += own;
    } catch {
      // It ended during the scan; its parent counts it now.
    }
  }
  return ticks / TICKS_PER_SECOND;
}

/** Processor time of a process so far, and of its ended children; from /proc. */
export function processorSecondsOf(pid: number): { own: number; ended: number } {
  const { own, ended } = parse(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return { own: own / TICKS_PER_SECOND, ended: ended / TICKS_PER_SECOND };
}

/** Processor time so far of these processes, of those below them, and of all their ended children; from /proc. */
export function processorSecondsBelow(pids: readonly number[]): number {
  const stats = globSync('/proc/[0-9]*/stat').flatMap((file) => {
    try {
      return [parse(readFileSync(file, 'utf8'))];
    } catch {
      return [];
    }
  });
  const children = Map.groupBy(stats, ({ parent }) => parent);
  const known = new Map(stats.map((stat) => [stat.pid, stat]));
  let ticks = 0;
  for (const left = [...pids]; left.length > 0;) {
    const pid = left.pop() ?? 0;
    const stat = known.get(pid);
    if (stat) ticks += stat.own + stat.ended;
    left.push(...(children.get(pid) ?? []).map((child) => child.pid));
  }
  return ticks / TICKS_PER_SECOND;
}

/** Fields are counted behind the name, which may hold anything but a closing bracket. */
function parse(stat: string): { pid: number; parent: number; own: number; ended: number } {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const field = (number: number): number => Number(fields[number - 3]);
  return {
    pid: Number.parseInt(stat, 10),
    parent: field(4),
    own: field(14) + field(15),
    ended: field(16) + field(17),
  };
}
