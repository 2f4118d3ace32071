import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppRefusal } from '../../web/app-refusal.ts';
import { checkNotebook } from './describe-file.ts';
import { notFound, type ContentPath } from './resolve-path.ts';

/** Saves what a client sent as `{ type, format, content }`. */
export async function saveFile(
  target: ContentPath,
  fields: Readonly<Record<string, unknown>>,
): Promise<void> {
  if (target.path === '') throw new AppRefusal(400, 'wrong_type', 'The root folder cannot be replaced.');
  if (fields['chunk'] !== undefined)
    throw new AppRefusal(400, 'unsupported', 'This server takes files in one piece.');
  await requireParent(target);
  if (fields['type'] === 'directory') return await makeFolder(target);
  const existing = await stat(target.file).catch(() => null);
  if (existing?.isDirectory()) throw new AppRefusal(400, 'wrong_type', `${target.path} is a folder.`);
  await writeWhole(target.file, toBytes(fields));
}

export async function makeFolder({ file, path }: ContentPath): Promise<void> {
  await mkdir(file).catch(async (error: NodeJS.ErrnoException) => {
    const isFolder = (await stat(file).catch(() => null))?.isDirectory();
    if (!isFolder) throw error.code === 'EEXIST' ? conflict(path) : error;
  });
}

/** A crash leaves the old content or the new one. */
export async function writeWhole(file: string, bytes: Buffer): Promise<void> {
  const part = join(dirname(file), `.${randomUUID()}.part`);
  try {
    await writeFile(part, bytes);
    await rename(part, file);
  } finally {
    await rm(part, { force: true });
  }
}

export async function requireParent({ file, path }: ContentPath): Promise<void> {
  const parent = await stat(dirname(file)).catch(() => null);
  if (!parent?.isDirectory()) throw notFound(path.slice(0, path.lastIndexOf('/')));
}

export function conflict(path: string): AppRefusal {
  return new AppRefusal(409, 'exists', `${path.slice(0, 200)} exists already.`);
}

function toBytes({ type, format, content }: Readonly<Record<string, unknown>>): Buffer {
  if (type === 'notebook') return Buffer.from(`${JSON.stringify(checkNotebook(content), null, 1)}\n`);
  if (type !== 'file') throw new AppRefusal(400, 'wrong_type', 'type must be file, notebook or directory.');
  if (typeof content !== 'string') throw new AppRefusal(400, 'no_content', 'The content must be a string.');
  return Buffer.from(content, format === 'base64' ? 'base64' : 'utf8');
}
