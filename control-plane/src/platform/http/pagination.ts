import { isUuid } from '../ids.ts';
import { Problem } from './problem.ts';

/** Opaque cursor: the sort key of the last row of a page. */
export function encodePage(key: readonly string[]): string {
  return Buffer.from(JSON.stringify(key), 'utf8').toString('base64url');
}

/** What a part of a sort key looks like; a forged cursor must not reach the database. */
const PARTS = {
  uuid: isUuid,
  integer: (text: string) => /^\d{1,18}$/.test(text),
  instant: (text: string) => !Number.isNaN(Date.parse(text)),
  text: (text: string) => !text.includes('\0'),
} as const;

export type KeyPart = keyof typeof PARTS;

/** The sort key in a cursor, or null for the first page. */
export function decodePage(page: string | undefined, parts: readonly KeyPart[]): string[] | null {
  if (page === undefined) return null;
  try {
    const key: unknown = JSON.parse(Buffer.from(page, 'base64url').toString('utf8'));
    if (
      Array.isArray(key) &&
      key.length === parts.length &&
      parts.every((part, index) => isPart(part, key[index]))
    ) {
      return key as string[];
    }
  } catch {
    // falls through to the refusal
  }
  throw new Problem('invalid_request', 'The page cursor is not one of ours.', {
    errors: [{ pointer: '/querystring/page', detail: 'is not a cursor of this list' }],
  });
}

function isPart(part: KeyPart, value: unknown): boolean {
  return typeof value === 'string' && PARTS[part](value);
}

/** Cuts `rows`, fetched with one row too many, into a page. */
export function pageOf<Row>(
  rows: Row[],
  limit: number,
  key: (row: Row) => readonly string[],
): { rows: Row[]; next_page: string | null } {
  if (rows.length <= limit) return { rows, next_page: null };
  const kept = rows.slice(0, limit);
  return { rows: kept, next_page: encodePage(key(kept[limit - 1]!)) };
}
