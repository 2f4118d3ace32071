import { createHash } from 'node:crypto';

const RANGE = 2 ** 32;

/**
 * Whether launches of a project get the canary. A hash places each project somewhere between 0 and 100, apart for each
 * version, so that the same projects do not test every release; a raised share keeps the projects of the lower one.
 */
export function takesCanary(
  { slug, version, percent }: { slug: string; version: string; percent: number },
  projectId: string,
): boolean {
  const hash = createHash('sha256').update(`${slug}\n${version}\n${projectId}`).digest();
  return (hash.readUInt32BE(0) / RANGE) * 100 < percent;
}
