import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '@gpuaas/contracts/is-record';
import { AppRefusal } from '../../web/app-refusal.ts';
import { notFound, type ContentPath } from './resolve-path.ts';

type FileType = 'directory' | 'file' | 'notebook';

export interface ContentModel {
  name: string;
  path: string;
  type: FileType;
  created: string;
  last_modified: string;
  size: number | null;
  writable: boolean;
  mimetype: string | null;
  format: 'json' | 'text' | 'base64' | null;
  content: unknown;
}

const MAX_READ_BYTES = 33_554_432;

/** A file, notebook or folder; with its content if it is asked for. */
export async function describeFile(
  target: ContentPath,
  options: { content: boolean; type: string | null; format: string | null },
): Promise<ContentModel> {
  const found = await stat(target.file).catch(() => null);
  if (!found || (!found.isFile() && !found.isDirectory())) throw notFound(target.path);
  const type = typeOf(target.name, found.isDirectory(), options.type);
  const model: ContentModel = {
    name: target.name,
    path: target.path,
    type,
    created: found.birthtime.toISOString(),
    last_modified: found.mtime.toISOString(),
    size: found.isDirectory() ? null : found.size,
    writable: true,
    mimetype: null,
    format: null,
    content: null,
  };
  if (!options.content) return model;
  if (type === 'directory') return { ...model, format: 'json', content: await list(target) };
  if (found.size > MAX_READ_BYTES)
    throw new AppRefusal(400, 'file_too_large', `${target.path} is larger than ${MAX_READ_BYTES} bytes.`);
  return { ...model, ...read(type, await readFile(target.file), options.format) };
}

function typeOf(name: string, isFolder: boolean, asked: string | null): FileType {
  const type = isFolder ? 'directory' : name.endsWith('.ipynb') && asked !== 'file' ? 'notebook' : 'file';
  if (asked !== null && asked !== type)
    throw new AppRefusal(400, 'wrong_type', `${name} is a ${type}, not a ${asked.slice(0, 20)}.`);
  return type;
}

async function list({ path, file }: ContentPath): Promise<ContentModel[]> {
  const names = (await readdir(file)).filter((name) => !name.startsWith('.')).toSorted();
  const models = names.map((name) => {
    const inside = { path: path === '' ? name : `${path}/${name}`, name, file: join(file, name) };
    // A file may be gone, or be a pipe or a link to nothing.
    return describeFile(inside, { content: false, type: null, format: null }).catch(() => null);
  });
  return (await Promise.all(models)).filter((model) => model !== null);
}

function read(
  type: FileType,
  bytes: Buffer,
  asked: string | null,
): Pick<ContentModel, 'mimetype' | 'format' | 'content'> {
  const text = bytes.toString('utf8');
  if (type === 'notebook') return { mimetype: null, format: 'json', content: parseNotebook(text) };
  const isText = Buffer.from(text).equals(bytes);
  if (asked === 'text' && !isText) throw new AppRefusal(400, 'not_text', 'The file is not text in UTF-8.');
  if (isText && asked !== 'base64') return { mimetype: 'text/plain', format: 'text', content: text };
  return { mimetype: 'application/octet-stream', format: 'base64', content: bytes.toString('base64') };
}

export function parseNotebook(text: string): Record<string, unknown> {
  try {
    return checkNotebook(JSON.parse(text));
  } catch (error) {
    throw error instanceof AppRefusal ? error : notANotebook();
  }
}

export function checkNotebook(notebook: unknown): Record<string, unknown> {
  if (isRecord(notebook) && Array.isArray(notebook['cells']) && typeof notebook['nbformat'] === 'number')
    return notebook;
  throw notANotebook();
}

function notANotebook(): AppRefusal {
  return new AppRefusal(400, 'not_a_notebook', 'The notebook is not valid: it has no cells or no nbformat.');
}
