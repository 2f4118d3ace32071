import { copyFile, mkdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppRefusal } from '../../web/app-refusal.ts';
import { notFound, resolvePath } from './resolve-path.ts';

interface Checkpoint {
  id: string;
  last_modified: string;
}

const ID = 'checkpoint';

/** One saved state for each file, beside it in `.ipynb_checkpoints` where Jupyter keeps its own. */
export class Checkpoints {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  async list(path: string): Promise<Checkpoint[]> {
    const { kept } = await this.#filesOf(path);
    const found = await stat(kept).catch(() => null);
    return found ? [{ id: ID, last_modified: found.mtime.toISOString() }] : [];
  }

  async create(path: string): Promise<Checkpoint> {
    const { file, kept } = await this.#filesOf(path);
    await mkdir(dirname(kept), { recursive: true });
    await copyFile(file, kept);
    return { id: ID, last_modified: (await stat(kept)).mtime.toISOString() };
  }

  async restore(path: string, id: string): Promise<void> {
    const { file, kept } = await this.#require(path, id);
    await copyFile(kept, file);
  }

  async remove(path: string, id: string): Promise<void> {
    await rm((await this.#require(path, id)).kept);
  }

  async #require(path: string, id: string): Promise<{ file: string; kept: string }> {
    const files = await this.#filesOf(path);
    if (id !== ID || !(await stat(files.kept).catch(() => null)))
      throw new AppRefusal(404, 'not_found', 'There is no such checkpoint.');
    return files;
  }

  async #filesOf(path: string): Promise<{ file: string; kept: string }> {
    const { file, name } = await resolvePath(this.#root, path);
    if (!(await stat(file).catch(() => null))?.isFile()) throw notFound(path);
    return { file, kept: join(dirname(file), '.ipynb_checkpoints', name) };
  }
}
