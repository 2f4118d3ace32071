import type { Operation } from '@gpuaas/sdk/operations';

const API = '/api/v1/';
/** Pages and redirects that only a browser can use. */
const FOR_BROWSERS = /^\/(auth|docs)(\/|$)/;

/**
 * The words of an operation's command, nouns first: `GET /api/v1/admin/nodes` is `admin nodes list`, `POST
 * /api/v1/admin/nodes/{node_id}/drain` is `admin nodes drain`. Null for operations that only browsers can
 * use.
 */
export function commandWords({ id, path }: Pick<Operation, 'id' | 'path'>): string[] | null {
  if (FOR_BROWSERS.test(path)) return null;
  const [verb, ...rest] = kebab(id).split('-');
  if (!verb) throw new Error(`operation ${id} has no verb`);
  if (!path.startsWith(API)) return ['system', rest.join('-')];
  const parts = path.slice(API.length).split('/');
  const nouns = parts.filter((part) => !part.startsWith('{'));
  const last = parts.at(-1)!;
  const isAction = nouns.length > 1 && (last === verb || last.startsWith(`${verb}-`));
  return isAction ? nouns : [...nouns, verb];
}

function kebab(id: string): string {
  return id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
