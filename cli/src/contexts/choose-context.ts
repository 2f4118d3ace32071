import { UsageError } from '../usage-error.ts';
import { readContexts, type Context, type SavedContexts } from './saved-contexts.ts';

/** The server to call, and the sign-in to use. */
export interface ChosenContext {
  /** Null when an address was given, or nothing was. */
  name: string | null;
  url: string;
  organization: string | undefined;
  project: string | undefined;
  /** Name under which the sign-in is stored. */
  signIn: string;
}

export interface ContextOptions {
  context?: string | undefined;
  url?: string | undefined;
}

const LOCAL = 'http://127.0.0.1:8080';

/** Flags win over the environment, and an address over the context in use. */
export function chooseContext(
  asked: ContextOptions,
  env: NodeJS.ProcessEnv = process.env,
  kept: () => SavedContexts = readContexts,
): ChosenContext {
  if (asked.context && asked.url) throw new UsageError('Pass --context or --url, not both.');
  const named = asked.context ?? (asked.url ? undefined : env['GPUAAS_CONTEXT'] || undefined);
  const address = asked.url ?? (env['GPUAAS_URL'] || undefined);
  if (named !== undefined) return byName(named, kept());
  if (address !== undefined) return chosen(null, { url: address });
  const all = kept();
  return all.current === null ? chosen(null, { url: LOCAL }) : byName(all.current, all);
}

function byName(name: string, { contexts }: SavedContexts): ChosenContext {
  const context = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (context) return chosen(name, context);
  const known = Object.keys(contexts);
  throw new UsageError(
    known.length === 0
      ? `No context named ${name}. Create it: gpuaas context set ${name} --url <address>`
      : `No context named ${name}; you have ${known.join(', ')}.`,
  );
}

function chosen(name: string | null, context: Context): ChosenContext {
  const url = trimTrailingSlash(context.url);
  return {
    name,
    url,
    organization: context.organization,
    project: context.project,
    signIn: context.own_login && name !== null ? `${name}@${url}` : url,
  };
}

/** Without a slash at its end. */
export function trimTrailingSlash(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new UsageError(`${text} is not a server URL; use one such as https://cloud.example`);
  return text.replace(/\/+$/, '');
}
