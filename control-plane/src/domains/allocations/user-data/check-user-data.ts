import { parseDocument } from 'yaml';
import { Problem } from '../../../platform/http/problem.ts';
import type { CapacityShape } from '../../placement/candidate.ts';
import { TENANT_KEYS } from './cloud-config-keys.ts';

const MAX_BYTES = 16_384;

/**
 * Refuses user-data that a machine could not be started with. Whoever has root in the machine can change anything in it
 * later; what is held here is that the machine comes up with the platform's login, host key, name and network.
 */
export function checkUserData(text: string, shape: CapacityShape): void {
  if (shape === 'baremetal')
    throw refused('A whole host is leased as it runs; only slices boot with user-data.');
  if (Buffer.byteLength(text) > MAX_BYTES) throw refused(`It is larger than ${MAX_BYTES} bytes.`);
  if (text.includes('\0')) throw refused('It contains a null character.');
  const [first = ''] = text.split(/\r?\n/, 1);
  if (first.startsWith('#!')) return;
  if (first.trimEnd() !== '#cloud-config')
    throw refused('Its first line must be `#cloud-config`, or begin with `#!`.');
  const forbidden = topKeys(text).filter((key) => !TENANT_KEYS.has(key));
  if (forbidden.length === 0) return;
  throw new Problem('user_data_refused', `Not for tenants to set: ${forbidden.join(', ')}.`, {
    extensions: { forbidden_keys: forbidden, allowed_keys: [...TENANT_KEYS] },
  });
}

/** Its words may quote a secret, so no answer repeats more of it than names of keys. */
function topKeys(text: string): string[] {
  const document = parseDocument(text, { uniqueKeys: true, schema: 'core', prettyErrors: false });
  const flaw = document.errors[0] ?? document.warnings[0];
  if (flaw) throw refused(`It is not YAML that can be read: ${flaw.code}, at character ${flaw.pos[0]}.`);
  const content = readAliases(document);
  if (content === null) return [];
  if (typeof content !== 'object' || Array.isArray(content)) throw refused('It must be a mapping of keys.');
  return Object.keys(content).map((key) =>
    /^[\w.<-]{1,64}$/.test(key) ? key : 'a key with an unusual name',
  );
}

/** Few words that stand for very many are refused as well. */
function readAliases(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS({ maxAliasCount: 50 });
  } catch {
    throw refused('Its aliases stand for too much, or for nothing.');
  }
}

function refused(detail: string): Problem {
  return new Problem('user_data_refused', detail);
}
