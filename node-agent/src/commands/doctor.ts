import type { PrereqCheck, PrereqReport } from '../host/host.ts';
import { checkPrerequisites } from '../host/linux/prerequisites/check-prerequisites.ts';
import type { RunCommand } from '../host/linux/commands.ts';
import { openHostFiles } from '../host/linux/host-files.ts';
import type { CommandOutput } from './command.ts';

export interface DoctorOptions {
  root: string;
  json: boolean;
  hugepagesGib: number;
}

const MARKS: Record<PrereqCheck['state'], string> = {
  ok: 'ok',
  warning: 'warn',
  missing: 'MISS',
  unknown: '????',
};

/** Prints the problems that make this host unfit for slices. Exit code 0 when there are none, else 1. */
export async function doctor(options: DoctorOptions, run: RunCommand, print: CommandOutput): Promise<number> {
  const files = openHostFiles(options.root);
  const report = await checkPrerequisites(files, run, { hugepages_gib: options.hugepagesGib });
  const problem = files.text('/var/lib/gpuaas/identity-problem.json');
  if (options.json) {
    print(JSON.stringify({ ...report, identity_problem: problem ? JSON.parse(problem) : null }, null, 2));
  } else {
    print(describe(report));
    if (problem) print(`MISS  identity\n      ${(JSON.parse(problem) as { advice: string }).advice}`);
  }
  return report.ready && !problem ? 0 : 1;
}

function describe({ checks, ready, reboot_required }: PrereqReport): string {
  const lines = checks.flatMap(({ id, state, evidence, remedy }) => [
    `${MARKS[state].padEnd(4)}  ${id.padEnd(16)} ${evidence}`,
    ...(remedy ? [`      → ${remedy}`] : []),
  ]);
  const verdict = ready ? 'ready for slices' : 'not ready for slices';
  return [...lines, '', `${verdict}${reboot_required ? '; a reboot is required' : ''}`].join('\n');
}
