/** The oldest patch of each line of Node that we run on: older ones have holes that were published. */
const OLDEST: Record<number, readonly [minor: number, patch: number]> = { 24: [18, 1], 26: [10, 0] };
const NEWEST_LINE = 26;

/** Why the platform does not run on this release of Node; null where it does. */
export function refuseNodeRelease(version: string): string | null {
  const [line = 0, minor = 0, patch = 0] = version.replace(/^v/, '').split('.').map(Number);
  const oldest = OLDEST[line];
  if (oldest ? isAtLeast([minor, patch], oldest) : line > NEWEST_LINE) return null;
  const wanted = Object.entries(OLDEST).map(([major, rest]) => [major, ...rest].join('.'));
  return `Node ${version} has known security holes: run ${wanted.join(' or ')}, or newer; npm ci brings one`;
}

function isAtLeast(given: readonly [number, number], wanted: readonly [number, number]): boolean {
  return given[0] > wanted[0] || (given[0] === wanted[0] && given[1] >= wanted[1]);
}
