import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { isRecord } from '../fields.ts';
import { readJson } from './flags.ts';

/** A body given as JSON, as `@file`, or as `-` for standard input. */
export async function readBody(given: string | undefined): Promise<Record<string, unknown>> {
  if (given === undefined) return {};
  const body = readJson(await readTextArgument(given));
  if (!isRecord(body) || Array.isArray(body)) throw new Error('The body must be a JSON object.');
  return body;
}

/** A long text given as it is, as `@file`, or as `-` for standard input. */
export async function readTextArgument(given: string): Promise<string> {
  if (given === '-') return await text(process.stdin);
  if (given.startsWith('@')) return await readFile(given.slice(1), 'utf8');
  return given;
}
