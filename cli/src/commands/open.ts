import { spawn } from 'node:child_process';
import type { Command } from 'commander';
import { findAllocation } from '../find-allocation.ts';
import { print } from '../print.ts';
import { openSession } from '../session.ts';

const OPENERS: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

export function addOpen(program: Command): void {
  program
    .command('open')
    .description('open the console in the browser, at an allocation if one is given')
    .argument('[allocation]', 'id or name')
    .option('--print', 'only print the address')
    .action(async (called: string | undefined, options: { print?: boolean }, command: Command) => {
      const session = openSession(command);
      const page =
        called === undefined
          ? '/overview'
          : `/allocations/${await findAllocation(session.client, called, 'any')}`;
      const url = `${session.url}${page}`;
      if (!options.print) openInBrowser(url);
      print(session, { url }, () => url);
    });
}

/** The address is printed too: a machine without a browser cannot open it. */
function openInBrowser(url: string): void {
  const [program = 'xdg-open', ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  child.once('error', () => undefined);
  child.unref();
}
