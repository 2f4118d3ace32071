import type { Command } from 'commander';
import { trimTrailingSlash } from '../../contexts/choose-context.ts';
import { readContexts, writeContexts, type Context } from '../../contexts/saved-contexts.ts';
import { outputOptions, print } from '../../print.ts';
import { formatTable } from '../../table.ts';
import { UsageError } from '../../usage-error.ts';

interface SetOptions {
  url?: string;
  organization?: string;
  project?: string;
  ownLogin?: boolean;
}

export function addContext(program: Command): void {
  const group = program.command('context').description('manage named servers and projects');
  group
    .command('list')
    .description('list contexts and show the current one')
    .action((_options, command: Command) => {
      const { current, contexts } = readContexts();
      const items = Object.entries(contexts).map(([name, context]) => facts(name, context, current));
      print(outputOptions(command), { items }, () =>
        items.length === 0
          ? 'No contexts yet. Create one: gpuaas context set work --url https://cloud.example'
          : formatTable([
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
    .description('switch to a context')
    .argument('<name>', 'name of the context')
    .action((name: string, _options, command: Command) => {
      const kept = readContexts();
      const context = existing(kept.contexts, name);
      writeContexts({ ...kept, current: name });
      print(outputOptions(command), facts(name, context, name), () => `Switched to ${name}: ${context.url}`);
    });
  group
    .command('set')
    .description('create or change a context')
    .argument('<name>', 'name of the context')
    .option('--organization <id or name>', 'default organization')
    .option('--project <id or name>', 'default project')
    .option('--own-login', 'use a separate sign-in for this context')
    .action((name: string, options: SetOptions, command: Command) => {
      const kept = readContexts();
      const former = Object.hasOwn(kept.contexts, name) ? kept.contexts[name] : undefined;
      const { url = former?.url } = command.optsWithGlobals<SetOptions>();
      if (url === undefined) throw new UsageError(`${name} does not exist yet; pass --url <address>.`);
      const context: Context = {
        ...former,
        url: trimTrailingSlash(url),
        ...(options.organization && { organization: options.organization }),
        ...(options.project && { project: options.project }),
        ...(options.ownLogin && { own_login: true }),
      };
      const current = kept.current ?? name;
      writeContexts({ current, contexts: { ...kept.contexts, [name]: context } });
      const next = current === name ? '' : ` Use it: gpuaas context use ${name}`;
      print(outputOptions(command), facts(name, context, current), () => `Saved ${name}.${next}`);
    });
  group
    .command('delete')
    .description('delete a context; its sign-in stays until gpuaas logout')
    .argument('<name>', 'name of the context')
    .action((name: string, _options, command: Command) => {
      const kept = readContexts();
      existing(kept.contexts, name);
      const { [name]: _gone, ...contexts } = kept.contexts;
      writeContexts({ current: kept.current === name ? null : kept.current, contexts });
      print(outputOptions(command), { name }, () => `Deleted ${name}.`);
    });
}

function existing(contexts: Record<string, Context>, name: string): Context {
  const context = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (!context) throw new UsageError(`No context named ${name}; see gpuaas context list.`);
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
