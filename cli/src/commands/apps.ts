import type { Command } from 'commander';
import type { components } from '@gpuaas/sdk/contract';
import { unwrap } from '@gpuaas/sdk/problem';
import { writeLog } from '../apps/follow-log.ts';
import { addShareApp } from './apps-share.ts';
import { waitForApp, type AppInstance } from '../apps/wait-for-app.ts';
import { findAllocation } from '../find-allocation.ts';
import { openInBrowser } from '../open-in-browser.ts';
import { print } from '../print.ts';
import { chooseProject, openSession } from '../session.ts';
import { formatTable, money } from '../table.ts';
import { UsageError } from '../usage-error.ts';

type Value = components['schemas']['AppParameterValue'];
type Money = components['schemas']['Money'];

export function addApps(program: Command): void {
  const apps = program.command('apps').description('run apps on your allocations');
  addRun(apps);
  addOpenApp(apps);
  addShareApp(apps);
  addListApps(apps);
  addLogs(apps);
  addStop(apps);
  addWait(apps);
  addCostOfApp(apps);
}

function addRun(apps: Command): void {
  apps
    .command('run')
    .description('start an app on an allocation')
    .argument('<app>', 'slug; see gpuaas app-manifests list')
    .requiredOption('--on <allocation>', 'id or name of the allocation')
    .option('--project <id>', 'project; required if you have several')
    .option('--name <name>', 'name of the instance')
    .option('--set <name=value...>', 'parameters of the app')
    .option('--wait', 'wait until it runs')
    .action(
      async (
        app: string,
        options: { on: string; project?: string; name?: string; set?: string[]; wait?: boolean },
        command: Command,
      ) => {
        const session = openSession(command);
        const { client } = session;
        const started = await unwrap(
          client.POST('/api/v1/app-instances', {
            body: {
              project_id: await chooseProject(session, options.project),
              app_slug: app,
              allocation_id: await findAllocation(client, options.on, 'live'),
              parameters: (options.set ?? []).map(parseValue),
              ...(options.name === undefined ? {} : { name: options.name }),
            },
          }),
        );
        const instance = options.wait ? await waitForApp(session, started, 'started') : started;
        print(session, instance, () => describe(instance));
      },
    );
}

function addOpenApp(apps: Command): void {
  apps
    .command('open')
    .description('open a running app in the browser')
    .argument('<instance>', 'id')
    .option('--print', 'only print the address')
    .action(async (app_instance_id: string, options: { print?: boolean }, command: Command) => {
      const session = openSession(command);
      const address = await unwrap(
        session.client.GET('/api/v1/app-instances/{app_instance_id}/address', {
          params: { path: { app_instance_id } },
        }),
      );
      if (!options.print) openInBrowser(address.url);
      print(session, address, () => address.url);
    });
}

function addListApps(apps: Command): void {
  apps
    .command('list')
    .description('app instances, newest first')
    .option('--project <id>', 'project; required if you have several')
    .option('--all', 'also those that have ended')
    .action(async (options: { project?: string; all?: boolean }, command: Command) => {
      const session = openSession(command);
      const project_id = await chooseProject(session, options.project);
      const page = await unwrap(
        session.client.GET('/api/v1/app-instances', {
          params: { query: { project_id, limit: 200, ...(options.all ? {} : { live: true }) } },
        }),
      );
      print(session, page, () => {
        if (page.items.length === 0) return 'No apps run. Try: gpuaas apps run <app> --on <allocation>';
        const rows = page.items.map((one) => [one.id, one.name, one.app_slug, one.status, one.reason ?? '']);
        return formatTable([['ID', 'NAME', 'APP', 'STATUS', 'REASON'], ...rows]);
      });
    });
}

function addLogs(apps: Command): void {
  apps
    .command('logs')
    .description('output of an app instance')
    .argument('<instance>', 'id')
    .option('-f, --follow', 'until it has ended')
    .action(async (id: string, options: { follow?: boolean }, command: Command) => {
      const write = (text: string): void => void process.stdout.write(text);
      await writeLog(openSession(command), id, { follow: options.follow ?? false, write });
    });
}

function addStop(apps: Command): void {
  apps
    .command('stop')
    .description('stop an app instance')
    .argument('<instance>', 'id')
    .option('--wait', 'wait until nothing of it is left')
    .action(async (id: string, options: { wait?: boolean }, command: Command) => {
      const session = openSession(command);
      const asked = await unwrap(
        session.client.POST('/api/v1/app-instances/{app_instance_id}/stop', {
          params: { path: { app_instance_id: id } },
        }),
      );
      const instance = options.wait ? await waitForApp(session, asked, 'ended') : asked;
      print(session, instance, () => describe(instance));
    });
}

function addWait(apps: Command): void {
  apps
    .command('wait')
    .description('wait until an app instance has ended; exit code 1 if it failed')
    .argument('<instance>', 'id')
    .action(async (id: string, _: object, command: Command) => {
      const session = openSession(command);
      const instance = await waitForApp(session, { id }, 'ended');
      print(session, instance, () => describe(instance));
    });
}

function addCostOfApp(apps: Command): void {
  apps
    .command('cost')
    .description('what an app instance has cost: its share of its machine, and its requests')
    .argument('<instance>', 'id')
    .action(async (app_instance_id: string, _: object, command: Command) => {
      const session = openSession(command);
      const cost = await unwrap(
        session.client.GET('/api/v1/app-instances/{app_instance_id}/cost', {
          params: { path: { app_instance_id } },
        }),
      );
      const row = (name: string, amounts: readonly Money[]): string[] => [
        name,
        amounts.length === 0 ? '-' : amounts.map(money).join(', '),
      ];
      print(session, cost, () =>
        formatTable([
          ['PART', 'COST'],
          row('share of the machine', cost.lease_share ? [cost.lease_share] : []),
          row('requests', cost.requests),
          row(cost.is_accruing ? 'total so far' : 'total', cost.totals),
        ]),
      );
    });
}

function parseValue(text: string): Value {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`--set takes name=value, not ${text}`);
  return { name: text.slice(0, at), value: text.slice(at + 1) };
}

function describe({ id, name, status, reason, waiting_for: gate, exit_code: exit }: AppInstance): string {
  const why = gate?.message ?? reason ?? '';
  return [`${id}  ${name}`, status, why, exit === null ? '' : `exit ${exit}`].filter(Boolean).join('  ');
}
