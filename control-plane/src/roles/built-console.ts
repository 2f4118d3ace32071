import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder from which a build of the console is served. */
export const CONSOLE_DIST = fileURLToPath(new URL('../../../console/dist', import.meta.url));

/** The folder to serve, of any age; null before the first build. */
export async function findBuiltConsole(): Promise<string | null> {
  const built = await stat(join(CONSOLE_DIST, 'index.html')).catch(() => null);
  return built ? CONSOLE_DIST : null;
}
