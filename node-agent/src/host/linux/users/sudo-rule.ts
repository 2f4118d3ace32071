import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeDurable } from '../../../durable-file.ts';
import { TaskError } from '../../../tasks/task-error.ts';
import { mustRun, type RunCommand } from '../commands.ts';

/** Where sudo looks for rules. */
export const SUDO_RULES = '/etc/sudoers.d';

/** Sudo reads no file with a dot in its name; the names of logins have none. */
export function sudoRule(username: string, rules = SUDO_RULES): string {
  return join(rules, `gpuaas-${username}`);
}

/** Lets the user become root without a password. Nothing is put where sudo reads it before visudo has read it. */
export async function allowRoot(run: RunCommand, username: string, rules = SUDO_RULES): Promise<void> {
  const rule = `${username} ALL=(ALL:ALL) NOPASSWD: ALL\n`;
  const folder = await mkdtemp(join(tmpdir(), 'gpuaas-sudo-'));
  try {
    const draft = join(folder, 'rule');
    await writeFile(draft, rule, { mode: 0o440 });
    await mustRun(run, 'root_refused', 'visudo', ['--check', '--strict', '--file', draft]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const file = sudoRule(username, rules);
  await writeDurable(file, rule, 0o440);
  // Sudo refuses rules that others may write, and wants its own to be readable by its group.
  await chmod(file, 0o440);
  const allowed = await mustRun(run, 'root_refused', 'sudo', [
    '--non-interactive',
    '--list',
    '--other-user',
    username,
  ]);
  if (!/NOPASSWD: ALL/.test(allowed)) {
    throw new TaskError('root_refused', `sudo does not let ${username} become root`);
  }
}

export async function forbidRoot(username: string, rules = SUDO_RULES): Promise<void> {
  await rm(sudoRule(username, rules), { force: true });
}
