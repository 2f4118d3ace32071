import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const NOT_OURS = new Set(['node_modules', 'dist', '.git', '.tanstack', '.vite']);

export interface SourceFile {
  /** From the root, with forward slashes. */
  path: string;
  text: string;
}

/** Every file of the repository below `folder` whose name ends with one of `endings`. */
export function filesIn(folder: string, ...endings: string[]): SourceFile[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry): SourceFile[] => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return NOT_OURS.has(entry.name) ? [] : filesIn(path, ...endings);
    if (!endings.some((ending) => entry.name.endsWith(ending))) return [];
    return [{ path, text: readFileSync(join(ROOT, path), 'utf8') }];
  });
}

export interface Import {
  /** A path from the root for our own files, else the package as written. */
  target: string;
  typesOnly: boolean;
  /** Loaded, or started as a process, only when the code gets there. */
  dynamic: boolean;
}

const STATEMENT = /^\s*(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?['"]([^'"]+)['"]/gm;
const DYNAMIC = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;
const MODULE_URL = /new URL\(\s*['"](\.[^'"]+\.ts)['"]\s*,\s*import\.meta\.url\s*\)/g;

/** Imports of a file, and modules it starts as processes by URL. */
export function importsOf({ path, text }: SourceFile): Import[] {
  const found: Import[] = [];
  for (const [, type, name] of text.matchAll(STATEMENT)) {
    found.push({ target: resolveTarget(path, name!), typesOnly: type !== undefined, dynamic: false });
  }
  for (const [, name] of [...text.matchAll(DYNAMIC), ...text.matchAll(MODULE_URL)]) {
    found.push({ target: resolveTarget(path, name!), typesOnly: false, dynamic: true });
  }
  return found;
}

function resolveTarget(from: string, name: string): string {
  if (!name.startsWith('.')) return name;
  return relative(ROOT, join(ROOT, dirname(from), name)).replaceAll('\\', '/');
}
