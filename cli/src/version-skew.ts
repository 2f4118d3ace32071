import { contractVersion } from '@gpuaas/sdk/operations';
import { colorize } from './colorize.ts';

let warned = false;

/** Warns once if server and command are of incompatible releases; both continue as far as possible. */
export function warnOfVersionSkew(response: Response): void {
  const server = response.headers.get('x-gpuaas-version');
  if (warned || server === null || isCompatible(contractVersion, server)) return;
  warned = true;
  const other = isOlder(contractVersion, server) ? 'gpuaas is older; upgrade it' : 'the server is older';
  console.error(colorize('yellow', `gpuaas ${contractVersion}, server ${server}: ${other}.`, process.stderr));
}

/**
 * Compares the part of the version that may break compatibility: the first number, or before 1.0 the second.
 */
export function isCompatible(mine: string, theirs: string): boolean {
  const [mine1, mine2] = numbers(mine);
  const [theirs1, theirs2] = numbers(theirs);
  return mine1 === theirs1 && (mine1 !== 0 || mine2 === theirs2);
}

function isOlder(mine: string, theirs: string): boolean {
  const [one, other] = [numbers(mine), numbers(theirs)];
  const at = one.findIndex((number, index) => number !== other[index]);
  return at >= 0 && one[at]! < (other[at] ?? 0);
}

function numbers(version: string): number[] {
  return version.split('.').map((part) => Number.parseInt(part, 10) || 0);
}
