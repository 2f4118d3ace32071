import { UsageError } from '../usage-error.ts';
import { readContexts, type Context, type KeptContexts } from './kept-contexts.ts';

/** The server to speak to, and as whom. */
export interface ChosenContext {
  /** Null when an address was given, or nothing was. */
  name: string | null;
  url: string;
  organization: string | undefined;
  project: string | undefined;
  /** Under which name the sign-in is kept. */
  signIn: string;
}

export interface Asked {
  context?: string | undefined;
  url?: string | undefined;
}

const LOCAL = 'http://127.0.0.1:8080';

/** Flags win over the environment, and an address over the context in use. */
export function chooseContext(
  asked: Asked,
  env: NodeJS.ProcessEnv = process.env,
  kept: () => KeptContexts = readContexts,
): ChosenContext {
  if (asked.context && asked.url) throw new UsageError('Pass --context or --url, not both.');
  const named = asked.context ?? (asked.url ? undefined : env['GPUAAS_CONTEXT'] || undefined);
  const address = asked.url ?? (env['GPUAAS_URL'] || undefined);
  if (named !== undefined) return byName(named, kept());
  if (address !== undefined) return chosen(null, { url: address });
  const all = kept();
  return all.current === null ? chosen(null, { url: LOCAL }) : byName(all.current, all);
}

function byName(name: string, { contexts }: KeptContexts): ChosenContext {
  const context = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (context) return chosen(name, context);
  const known = Object.keys(contexts);
  throw new UsageError(
    known.length === 0
      ? `There is no context ${name}. Make it: gpuaas context set ${name} --url <address>`
      : `There is no context ${name}; you have ${known.join(', ')}.`,
  );
}

function chosen(name: string | null, context: Context): ChosenContext {
  const url = plainUrl(context.url);
  return {
    name,
    url,
    organization: context.organization,
    project: context.project,
    signIn: context.own_login && name !== null ? `${name}@${url}` : url,
  };
}

/** Without a slash at its end. */
export function plainUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new UsageError(`${text} is no address of a server; give one such as https://cloud.example`);
  return text.replace(/\/+$/, '');
}
