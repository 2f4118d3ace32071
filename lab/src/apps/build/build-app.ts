import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown, type InputOptions } from 'rolldown';

export const APP_NAMES = ['hello-web', 'notebook', 'tiny-llm', 'word-count'] as const;
export type AppName = (typeof APP_NAMES)[number];

/** An app as one file that needs nothing but Node. The same sources give the same digest. */
export interface Payload {
  app: AppName;
  /** `sha256:` and 64 hexadecimal digits. */
  digest: string;
  bytes: Buffer;
}

const APPS = fileURLToPath(new URL('../', import.meta.url));
const FILES_MODULE = 'app:files';
/** Native accelerators that `ws` does without. */
const LEFT_OUT = ['bufferutil', 'utf-8-validate'];

/** Bundles `<app>/main.ts` with the libraries it imports and the files of its `page` and `data` folders. */
export async function buildApp(app: AppName): Promise<Payload> {
  const folder = join(APPS, app);
  const files = await collectFiles(folder);
  const code = await bundle({
    input: join(folder, 'main.ts'),
    platform: 'node',
    external: LEFT_OUT,
    plugins: [
      {
        name: 'app-files',
        resolveId: (id) => (id === FILES_MODULE ? id : null),
        load: (id) =>
          id === FILES_MODULE ? `export const FILES = ${JSON.stringify(Object.fromEntries(files))};` : null,
      },
    ],
  });
  const bytes = Buffer.from(code);
  return { app, digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}`, bytes };
}

/** Base64 by path. The scripts of a page are bundled to one. */
async function collectFiles(folder: string): Promise<[string, string][]> {
  const files: [string, string][] = [];
  for (const part of ['data', 'page']) {
    if (!existsSync(join(folder, part))) continue;
    for (const name of (await readdir(join(folder, part))).toSorted()) {
      if (name.endsWith('.ts')) continue;
      const content = await readFile(join(folder, part, name));
      files.push([`${part}/${name}`, content.toString('base64')]);
    }
  }
  const script = join(folder, 'page', 'main.ts');
  if (existsSync(script)) {
    const code = await bundle({ input: script, platform: 'browser' });
    files.push(['page/main.js', Buffer.from(code).toString('base64')]);
  }
  return files;
}

async function bundle(options: InputOptions): Promise<string> {
  const build = await rolldown({ ...options, cwd: APPS, logLevel: 'silent' });
  try {
    const { output } = await build.generate({ format: 'esm', minify: 'dce-only', codeSplitting: false });
    if (output.length !== 1) throw new Error(`The bundle has ${output.length} files instead of one`);
    return output[0].code;
  } finally {
    await build.close();
  }
}
