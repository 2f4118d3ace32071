import { copyFile, rename, rm, rmdir, stat } from 'node:fs/promises';
import { AppRefusal } from '../../web/app-refusal.ts';
import { describeFile, type ContentModel } from './describe-file.ts';
import { notFound, resolvePath } from './resolve-path.ts';
import { conflict, makeFolder, requireParent, saveFile, writeWhole } from './write-file.ts';

type Fields = Readonly<Record<string, unknown>>;

export const EMPTY_NOTEBOOK = { cells: [], metadata: {}, nbformat: 4, nbformat_minor: 5 };

/** Files below one folder, as Jupyter's contents API shows them. */
export class Contents {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  async read(path: string, query: URLSearchParams): Promise<ContentModel> {
    return await describeFile(await resolvePath(this.#root, path), {
      content: query.get('content') !== '0',
      type: query.get('type'),
      format: query.get('format'),
    });
  }

  /** The model of the saved file, and whether it is new. */
  async save(path: string, fields: Fields): Promise<{ model: ContentModel; isNew: boolean }> {
    const target = await resolvePath(this.#root, path);
    const isNew = !(await exists(target.file));
    await saveFile(target, fields);
    return { model: await this.#describe(path), isNew };
  }

  /** A new file in a folder, empty or as a copy, under a name that is free. */
  async create(folder: string, fields: Fields): Promise<ContentModel> {
    const copied = fields['copy_from'];
    const { name, content } =
      typeof copied === 'string' ? await this.#copyOf(copied) : newFile(fields['type'], fields['ext']);
    const path = await this.#freePath(folder, name);
    const target = await resolvePath(this.#root, path);
    await requireParent(target);
    if (content === null) await makeFolder(target);
    else if (typeof content === 'string') await copyFile(content, target.file);
    else await writeWhole(target.file, content);
    return await this.#describe(path);
  }

  async rename(from: string, to: unknown): Promise<ContentModel> {
    if (typeof to !== 'string') throw new AppRefusal(400, 'no_path', 'path must be a string.');
    const source = await resolvePath(this.#root, from);
    const target = await resolvePath(this.#root, to);
    if (source.path === '' || target.path === '') throw notFound(from);
    if (!(await exists(source.file))) throw notFound(from);
    if (source.path !== target.path && (await exists(target.file))) throw conflict(to);
    await requireParent(target);
    await rename(source.file, target.file);
    return await this.#describe(to);
  }

  /** A folder must be empty. */
  async remove(path: string): Promise<void> {
    const { file } = await resolvePath(this.#root, path);
    const found = await stat(file).catch(() => null);
    if (!found || path.replaceAll('/', '') === '') throw notFound(path);
    if (!found.isDirectory()) return await rm(file);
    await rmdir(file).catch(() => {
      throw new AppRefusal(400, 'not_empty', `The folder ${path.slice(0, 200)} is not empty.`);
    });
  }

  async #describe(path: string): Promise<ContentModel> {
    const target = await resolvePath(this.#root, path);
    return await describeFile(target, { content: false, type: null, format: null });
  }

  async #copyOf(path: string): Promise<{ name: string; content: string }> {
    const { file, name } = await resolvePath(this.#root, path);
    if (!(await stat(file).catch(() => null))?.isFile()) throw notFound(path);
    return { name: name.replace(/(\.[^.]*)?$/, '-Copy$1'), content: file };
  }

  async #freePath(folder: string, name: string): Promise<string> {
    const [, stem = name, end = ''] = /^(.*?)(\.[^.]*)?$/.exec(name) ?? [];
    for (let number = 0; number < 1000; number += 1) {
      const path = `${folder}/${stem}${number || ''}${end}`;
      if (!(await exists((await resolvePath(this.#root, path)).file))) return path;
    }
    throw conflict(name);
  }
}

/** Content is null for a folder, and a file to copy if it is a string. */
function newFile(type: unknown, ext: unknown): { name: string; content: Buffer | string | null } {
  if (type === 'directory') return { name: 'Untitled Folder', content: null };
  if (type === 'notebook')
    return { name: 'Untitled.ipynb', content: Buffer.from(JSON.stringify(EMPTY_NOTEBOOK)) };
  const end = typeof ext === 'string' && /^\.\w{1,20}$/.test(ext) ? ext : '.txt';
  return { name: `untitled${end}`, content: Buffer.alloc(0) };
}

async function exists(file: string): Promise<boolean> {
  return (await stat(file).catch(() => null)) !== null;
}
