import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const SOURCES = fileURLToPath(new URL('../../../console/src', import.meta.url));

/**
 * Every path of the console's router, read from the route declarations, so that a new one is found
 * automatically.
 */
export function consoleRoutes(): string[] {
  const files = [
    `${SOURCES}/router.ts`,
    ...readdirSync(`${SOURCES}/routes`).map((name) => `${SOURCES}/routes/${name}`),
  ];
  return files
    .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/^\s+path: '([^']+)'/gm)])
    .map((match) => match[1]!)
    .toSorted();
}
