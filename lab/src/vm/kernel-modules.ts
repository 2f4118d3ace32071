import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/**
 * Files of the given modules and their dependencies, in load order. Dependencies are written in each module
 * and differ between kernels; a name without a file is built into the kernel.
 */
export function modulesInLoadOrder(kernelFolder: string, wanted: readonly string[]): string[] {
  const files = new Map(
    readdirSync(kernelFolder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ko'))
      .map((path) => [nameOf(path), join(kernelFolder, path)]),
  );
  const ordered = new Set<string>();
  const add = (name: string): void => {
    const file = files.get(name);
    if (file === undefined || ordered.has(file)) return;
    for (const needed of moduleDependencies(readFileSync(file))) add(nameOf(needed));
    ordered.add(file);
  };
  for (const name of wanted) {
    if (!files.has(nameOf(name))) throw new Error(`there is no module ${name} in ${kernelFolder}`);
    add(nameOf(name));
  }
  return [...ordered];
}

/** The kernel treats both dashes alike. */
function nameOf(path: string): string {
  return basename(path, '.ko').replaceAll('-', '_');
}

export function moduleDependencies(module: Buffer): string[] {
  const [, list = ''] = /\0depends=([^\0]*)\0/.exec(module.toString('latin1')) ?? [];
  return list.split(',').filter(Boolean);
}
