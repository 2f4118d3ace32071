import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { systemClock } from '@gpuaas/control-plane/platform/clock';
import { CONSOLE_DIST } from '@gpuaas/control-plane/roles/built-console';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const CONSOLE = join(ROOT, 'console');
const SOURCES = [
  join(CONSOLE, 'src'),
  join(CONSOLE, 'public'),
  join(CONSOLE, 'index.html'),
  join(CONSOLE, 'vite.config.ts'),
  join(ROOT, 'sdk', 'src'),
  join(ROOT, 'docs', 'runbooks'),
  join(ROOT, 'contracts', 'generated', 'openapi.ts'),
];

/** A build that was killed leaves its folder; nobody builds for so long. */
const ABANDONED_MS = 3_600_000;

/**
 * Builds the console when its sources are newer than the build; returns the folder to serve. Built beside it and then put
 * in place: a process that starts at the same time must not list a folder that is being emptied.
 */
export async function buildConsole(log: (line: string) => void, signal?: AbortSignal): Promise<string> {
  const changed = Math.max(...(await Promise.all(SOURCES.map(newestIn))));
  if (await isBuiltSince(changed)) return CONSOLE_DIST;
  log('building the console');
  await removeAbandoned();
  const folder = join(CONSOLE, `dist-${randomUUID()}`);
  try {
    await promisify(execFile)(
      process.execPath,
      [join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js'), 'build', '--outDir', folder],
      {
        cwd: CONSOLE,
        timeout: 120_000,
        // Tests run with another one, and would leave a development build behind for the next start.
        env: { ...process.env, NODE_ENV: 'production' },
        ...(signal ? { signal } : {}),
      },
    );
    await putInPlace(folder, changed);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return CONSOLE_DIST;
}

/** The first of those who built at the same time; the others find it there. */
async function putInPlace(folder: string, changed: number): Promise<void> {
  if (await isBuiltSince(changed)) return;
  const outdated = `${folder}-outdated`;
  await rename(CONSOLE_DIST, outdated).catch(unless('ENOENT'));
  await rename(folder, CONSOLE_DIST).catch(unless('ENOTEMPTY', 'EEXIST'));
  await rm(outdated, { recursive: true, force: true });
}

function unless(...codes: string[]): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    if (!codes.includes(error.code ?? '')) throw error;
  };
}

async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(CONSOLE)) {
    const folder = join(CONSOLE, name);
    if (!name.startsWith('dist-') || (await modifiedAt(folder)) > systemClock.now().getTime() - ABANDONED_MS)
      continue;
    await rm(folder, { recursive: true, force: true });
  }
}

async function isBuiltSince(changed: number): Promise<boolean> {
  return (await modifiedAt(join(CONSOLE_DIST, 'index.html'))) >= changed;
}

async function newestIn(path: string): Promise<number> {
  const own = await modifiedAt(path);
  let entries: string[];
  try {
    entries = await readdir(path, { recursive: true });
  } catch {
    return own;
  }
  return Math.max(own, ...(await Promise.all(entries.map((entry) => modifiedAt(join(path, entry))))));
}

async function modifiedAt(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch {
    return 0;
  }
}
