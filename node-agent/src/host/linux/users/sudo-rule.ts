import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeDurable } from '../../../durable-file.ts';
import { TaskError } from '../../../tasks/task-error.ts';
import { runOrThrow, type RunCommand } from '../commands.ts';

/** Folder where sudo reads rules. */
export const SUDO_RULES = '/etc/sudoers.d';

/** sudo reads no file with a dot in its name; login names have none. */
export function sudoRule(username: string, rules = SUDO_RULES): string {
  return join(rules, `gpuaas-${username}`);
}

/**
 * Lets the user become root without a password. visudo checks the rule before it is put where sudo reads it.
 */
export async function grantSudo(run: RunCommand, username: string, rules = SUDO_RULES): Promise<void> {
  const rule = `${username} ALL=(ALL:ALL) NOPASSWD: ALL\n`;
  const folder = await mkdtemp(join(tmpdir(), 'gpuaas-sudo-'));
  try {
    const draft = join(folder, 'rule');
    await writeFile(draft, rule, { mode: 0o440 });
    await runOrThrow(run, 'root_refused', 'visudo', ['--check', '--strict', '--file', draft]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const file = sudoRule(username, rules);
  await writeDurable(file, rule, 0o440);
  // sudo refuses rules that others may write, and needs its own to be readable by its group.
  await chmod(file, 0o440);
  const allowed = await runOrThrow(run, 'root_refused', 'sudo', [
    '--non-interactive',
    '--list',
    '--other-user',
    username,
  ]);
  if (!/NOPASSWD: ALL/.test(allowed)) {
    throw new TaskError('root_refused', `sudo does not let ${username} become root`);
  }
}

export async function revokeSudo(username: string, rules = SUDO_RULES): Promise<void> {
  await rm(sudoRule(username, rules), { force: true });
}
