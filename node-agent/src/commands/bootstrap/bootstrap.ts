import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RunCommand } from '../../host/linux/commands.ts';
import { commandError } from '../../host/linux/commands.ts';
import { openHostFiles, type HostFiles } from '../../host/linux/host-files.ts';
import { CommandError, requireRoot, type CommandOutput } from '../command.ts';
import {
  planBootstrap,
  type BootstrapOptions,
  type BootstrapPlan,
  type BootstrapChange,
} from './plan-bootstrap.ts';
import { recordUnfinishedFiles, readUnfinishedFiles } from './unfinished.ts';

export interface BootstrapCommand extends BootstrapOptions {
  root: string;
  /** Without it the command prints the plan and changes nothing. */
  apply: boolean;
  isRoot: boolean;
}

const COMMAND_MS = 1_800_000;

/** Prepares a host for slices. Prints its plan first; a second run changes nothing. */
export async function bootstrap(
  command: BootstrapCommand,
  run: RunCommand,
  print: CommandOutput,
): Promise<void> {
  const files = openHostFiles(command.root);
  const plan = await planBootstrap(files, run, command);
  print(describe(plan));
  if (!command.apply || plan.changes.length === 0) return;
  requireRoot(command.isRoot, 'bootstrap --apply');
  for (const change of plan.changes) {
    print(`now: ${change.what}`);
    await make(change, command.root, files, run);
  }
  const { rebootReasons } = await planBootstrap(files, run, command);
  print(rebootLine(rebootReasons));
}

function describe({ changes, inPlace, rebootReasons }: BootstrapPlan): string {
  const lines = [
    ...inPlace.map((what) => `ok    ${what}`),
    ...changes.flatMap(({ what, commands }) => [
      `todo  ${what}`,
      ...commands.map((words) => `      $ ${words.join(' ')}`),
    ]),
  ];
  const count = changes.length === 0 ? 'nothing to change' : `${changes.length} changes; --apply makes them`;
  return [...lines, '', count, rebootLine(rebootReasons)].join('\n');
}

function rebootLine(reasons: readonly string[]): string {
  return reasons.length === 0 ? 'reboot_required: no' : `reboot_required: yes (${reasons.join('; ')})`;
}

async function make(
  { file, commands }: BootstrapChange,
  root: string,
  files: HostFiles,
  run: RunCommand,
): Promise<void> {
  const unfinished = readUnfinishedFiles(files);
  if (file) {
    recordUnfinishedFiles(root, unfinished.add(file.path));
    const path = join(root, file.path);
    mkdirSync(dirname(path), { recursive: true });
    // netplan and systemd want neither to be writable by others.
    writeFileSync(path, file.content, { mode: 0o600 });
    chmodSync(path, file.path.startsWith('/etc/netplan') ? 0o600 : 0o644);
  }
  for (const [tool = '', ...args] of commands) {
    const result = await run(tool, args, { timeoutMs: COMMAND_MS });
    if (result?.code === 0) continue;
    const reason = result === null ? 'it is not installed' : commandError(result);
    throw new CommandError(`${[tool, ...args].join(' ')} failed: ${reason}`);
  }
  if (file && unfinished.delete(file.path)) recordUnfinishedFiles(root, unfinished);
}
