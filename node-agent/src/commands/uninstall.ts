import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { RunCommand } from '../host/linux/commands.ts';
import { CommandError, requireRoot, type CommandOutput } from './command.ts';
import { SERVICE, servicePaths } from './service-files.ts';

export interface UninstallOptions {
  root: string;
  /** Also forgets identity, journal and image cache. */
  purge: boolean;
  dryRun: boolean;
  isRoot: boolean;
}

/** Removes the service. The state stays unless purged, and is never purged while a slice is in use. */
export async function uninstall(
  options: UninstallOptions,
  run: RunCommand,
  print: CommandOutput,
): Promise<void> {
  const paths = servicePaths(options.root);
  const gone = [paths.unit, paths.environment, ...(options.purge ? [paths.state] : [])];
  if (options.purge) refuseWhileLeased(paths.state);
  if (options.dryRun) {
    print(`run systemctl disable --now ${SERVICE}`);
    for (const path of gone) print(`remove ${path}`);
    return;
  }
  requireRoot(options.isRoot, 'uninstall');
  await run('systemctl', ['disable', '--now', SERVICE]);
  for (const path of gone) rmSync(path, { recursive: true, force: true });
  await run('systemctl', ['daemon-reload']);
  print(options.purge ? 'removed, with its state' : `removed; the state stays in ${paths.state}`);
}

function refuseWhileLeased(state: string): void {
  const folder = join(state, 'node-scheduler', 'leases');
  let leases: string[] = [];
  try {
    leases = readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch {
    return;
  }
  if (leases.length === 0) return;
  throw new CommandError(`${leases.length} slots are leased (${folder}); drain the host before you purge it`);
}
