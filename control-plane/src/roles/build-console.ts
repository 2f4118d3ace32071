import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

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

/** Builds the console when its sources are newer than the build; returns the folder to serve. */
export async function buildConsole(log: (line: string) => void, signal?: AbortSignal): Promise<string> {
  const dist = join(CONSOLE, 'dist');
  const built = await modifiedAt(join(dist, 'index.html'));
  const changed = Math.max(...(await Promise.all(SOURCES.map(newestIn))));
  if (built >= changed) return dist;
  log('building the console');
  await promisify(execFile)(
    process.execPath,
    [join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js'), 'build'],
    {
      cwd: CONSOLE,
      timeout: 120_000,
      // Tests run with another one, and would leave a development build behind for the next start.
      env: { ...process.env, NODE_ENV: 'production' },
      ...(signal ? { signal } : {}),
    },
  );
  return dist;
}

/** The folder to serve, whatever its age; null when nobody has built it. */
export async function builtConsole(): Promise<string | null> {
  const dist = join(CONSOLE, 'dist');
  return (await modifiedAt(join(dist, 'index.html'))) > 0 ? dist : null;
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
