import { trimTrailingSlash } from './choose-context.ts';
import { readContexts, writeContexts } from './saved-contexts.ts';

/** The context of a server that was signed in to by its address, so that the next command need not name it. */
export function saveContextFor(url: string): string {
  const { contexts } = readContexts();
  const known = Object.entries(contexts).find(
    ([, context]) => trimTrailingSlash(context.url) === url && !context.own_login,
  );
  const name = known?.[0] ?? freeName(new URL(url).host, contexts);
  writeContexts({ current: name, contexts: { ...contexts, [name]: known?.[1] ?? { url } } });
  return name;
}

function freeName(host: string, taken: object): string {
  let name = host;
  for (let count = 2; Object.hasOwn(taken, name); count += 1) name = `${host}-${count}`;
  return name;
}
