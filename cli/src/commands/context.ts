import type { Command } from 'commander';
import { plainUrl } from '../contexts/choose-context.ts';
import { readContexts, writeContexts, type Context } from '../contexts/kept-contexts.ts';
import { outputOf, print } from '../print.ts';
import { table } from '../table.ts';
import { UsageError } from '../usage-error.ts';

interface SetOptions {
  url?: string;
  organization?: string;
  project?: string;
  ownLogin?: boolean;
}

export function addContext(program: Command): void {
  const group = program.command('context').description('servers and projects by name');
  group
    .command('list')
    .description('all of them, and which is in use')
    .action((_options, command: Command) => {
      const { current, contexts } = readContexts();
      const items = Object.entries(contexts).map(([name, context]) => facts(name, context, current));
      print(outputOf(command), { items }, () =>
        items.length === 0
          ? 'None yet. Make one: gpuaas context set work --url https://cloud.example'
          : table([
              ['', 'NAME', 'URL', 'ORGANIZATION', 'PROJECT'],
              ...items.map((one) => [
                one.current ? '*' : '',
                one.name,
                one.url,
                one.organization ?? '-',
                one.project ?? '-',
              ]),
            ]),
      );
    });
  group
    .command('use')
    .description('let the next commands speak to this one')
    .argument('<name>', 'of a context')
    .action((name: string, _options, command: Command) => {
      const kept = readContexts();
      const context = existing(kept.contexts, name);
      writeContexts({ ...kept, current: name });
      print(outputOf(command), facts(name, context, name), () => `${name} is in use: ${context.url}`);
    });
  group
    .command('set')
    .description('make a context, or change what is said of it')
    .argument('<name>', 'for you to remember')
    .option('--organization <id or name>', 'where commands act when they are not told')
    .option('--project <id or name>', 'the same, for a project')
    .option('--own-login', 'do not share the sign-in of other contexts of the same server')
    .action((name: string, options: SetOptions, command: Command) => {
      const kept = readContexts();
      const former = Object.hasOwn(kept.contexts, name) ? kept.contexts[name] : undefined;
      const { url = former?.url } = command.optsWithGlobals<SetOptions>();
      if (url === undefined) throw new UsageError(`${name} is new; say where it is with --url <address>.`);
      const context: Context = {
        ...former,
        url: plainUrl(url),
        ...(options.organization && { organization: options.organization }),
        ...(options.project && { project: options.project }),
        ...(options.ownLogin && { own_login: true }),
      };
      const current = kept.current ?? name;
      writeContexts({ current, contexts: { ...kept.contexts, [name]: context } });
      const next = current === name ? '' : ` Use it: gpuaas context use ${name}`;
      print(outputOf(command), facts(name, context, current), () => `${name} is kept.${next}`);
    });
  group
    .command('delete')
    .description('forget a context; its sign-in stays until gpuaas logout')
    .argument('<name>', 'of a context')
    .action((name: string, _options, command: Command) => {
      const kept = readContexts();
      existing(kept.contexts, name);
      const { [name]: _gone, ...contexts } = kept.contexts;
      writeContexts({ current: kept.current === name ? null : kept.current, contexts });
      print(outputOf(command), { name }, () => `${name} is forgotten.`);
    });
}

function existing(contexts: Record<string, Context>, name: string): Context {
  const context = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (!context) throw new UsageError(`There is no context ${name}; see gpuaas context list.`);
  return context;
}

function facts(name: string, context: Context, current: string | null) {
  return {
    name,
    url: context.url,
    organization: context.organization ?? null,
    project: context.project ?? null,
    own_login: context.own_login ?? false,
    current: name === current,
  };
}
