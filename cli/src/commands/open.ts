import type { Command } from 'commander';
import { findAllocation } from '../find-allocation.ts';
import { openInBrowser } from '../open-in-browser.ts';
import { print } from '../print.ts';
import { openSession } from '../session.ts';

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
