import { isUuid } from '../ids.ts';
import { parseInstant } from './instants.ts';
import { Problem } from './problem.ts';

/** Reply of every list. */
export interface Page<Item> {
  items: Item[];
  next_page: string | null;
}

/** Opaque cursor: the sort key of the last row of a page. */
export function encodePage(key: readonly string[]): string {
  return Buffer.from(JSON.stringify(key), 'utf8').toString('base64url');
}

/** Form of a part of a sort key; a forged cursor must not reach the database. */
const PARTS = {
  uuid: isUuid,
  integer: (text: string) => /^\d{1,18}$/.test(text),
  instant: (text: string) => parseInstant(text) !== null,
  text: (text: string) => !text.includes('\0'),
} as const;

export type CursorPart = keyof typeof PARTS;

type SortKey<Parts extends readonly CursorPart[]> = { -readonly [I in keyof Parts]: string };

/** The sort key in a cursor, or null for the first page. */
export function decodePage<const Parts extends readonly CursorPart[]>(
  page: string | undefined,
  parts: Parts,
): SortKey<Parts> | null {
  if (page === undefined) return null;
  try {
    const key: unknown = JSON.parse(Buffer.from(page, 'base64url').toString('utf8'));
    if (isKey(key, parts)) return key;
  } catch {
    // Falls through to the refusal.
  }
  throw new Problem('invalid_request', 'The page cursor is not valid.', {
    errors: [{ pointer: '/querystring/page', detail: 'is not a cursor of this list' }],
  });
}

function isKey<Parts extends readonly CursorPart[]>(key: unknown, parts: Parts): key is SortKey<Parts> {
  return (
    Array.isArray(key) &&
    key.length === parts.length &&
    parts.every((part, index) => isPart(part, key[index]))
  );
}

function isPart(part: CursorPart, value: unknown): boolean {
  return typeof value === 'string' && PARTS[part](value);
}

/** Cuts `rows`, fetched with one row too many, into a page. */
export function toPage<Row>(
  rows: Row[],
  limit: number,
  key: (row: Row) => readonly string[],
): { rows: Row[]; next_page: string | null } {
  const kept = rows.slice(0, limit);
  const lastKept = kept.at(-1);
  if (rows.length <= limit || lastKept === undefined) return { rows: kept, next_page: null };
  return { rows: kept, next_page: encodePage(key(lastKept)) };
}
