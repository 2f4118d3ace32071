import { isRecord } from './fields.ts';

const MOST_COLUMNS = 7;
/** What people look for first, in this order; each group is cut so that the next one has room. */
const GROUPS: { most: number; holds: (name: string, value: unknown) => boolean }[] = [
  { most: 2, holds: (name) => NAMES.has(name) },
  { most: 2, holds: (name) => STATES.has(name) },
  { most: 2, holds: (name, value) => isMoney(value) || VALUES.has(name) },
];
const NAMES = new Set([
  'name',
  'display_name',
  'hostname',
  'title',
  'email',
  'sku',
  'action',
  'number',
  'label',
  'domain',
  'url',
  'kind',
  'measure',
  'event_type',
  'resource_type',
  'permission_group',
]);
export const STATES = new Set(['state', 'status', 'posture', 'connection', 'severity', 'standing', 'result']);
const VALUES = new Set([
  'value',
  'limit',
  'used',
  'percent',
  'sold_percent',
  'public_address',
  'fingerprint',
]);
/** For programs: `--json` and `--fields` show them. */
const LEFT_OUT = new Set([
  'resource_name',
  'organization_id',
  'correlation_id',
  'workflow_id',
  'public_key',
  'public_key_pem',
  'signature',
  'doc',
  'boot_id',
  'credential_id',
]);

/** The columns of a table of these items: names, states and amounts first, then the rest, the id last. */
export function chooseColumns(known: string[], items: readonly object[]): string[] {
  const [first = {}] = items;
  const valueOf = (name: string): unknown =>
    items
      .map((item) => (isRecord(item) ? item[name] : null))
      .find((value) => value !== null && value !== undefined);
  const names = known.filter((name) => name in first && !LEFT_OUT.has(name) && name !== 'id');
  const leading = GROUPS.flatMap(({ most, holds }) =>
    names.filter((name) => holds(name, valueOf(name))).slice(0, most),
  );
  const others = names.filter((name) => !leading.includes(name) && valueOf(name) !== undefined);
  const ids = known.includes('id') && 'id' in first ? ['id'] : [];
  return [...leading, ...others.toSorted(timesLast)].slice(0, MOST_COLUMNS - ids.length).concat(ids);
}

function timesLast(one: string, other: string): number {
  return Number(isTime(one)) - Number(isTime(other));
}

function isTime(name: string): boolean {
  return /_at$|_from$|_until$/.test(name);
}

export function isMoney(value: unknown): value is { currency: string; micros: number } {
  return isRecord(value) && 'micros' in value && 'currency' in value;
}
