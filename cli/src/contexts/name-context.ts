import { plainUrl } from './choose-context.ts';
import { readContexts, writeContexts } from './kept-contexts.ts';

/** The context of a server that was signed in to by its address, so that the next command need not name it. */
export function nameContext(url: string): string {
  const { contexts } = readContexts();
  const known = Object.entries(contexts).find(
    ([, context]) => plainUrl(context.url) === url && !context.own_login,
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
