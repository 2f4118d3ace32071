import { contractVersion } from '@gpuaas/sdk/operations';
import { paint } from './paint.ts';

let warned = false;

/** Says once that server and command are of different releases; both go on as far as they understand each other. */
export function warnOfSkew(response: Response): void {
  const server = response.headers.get('x-gpuaas-version');
  if (warned || server === null || isCompatible(contractVersion, server)) return;
  warned = true;
  const other = isOlder(contractVersion, server) ? 'this gpuaas is older; upgrade it' : 'the server is older';
  console.error(
    paint('yellow', `gpuaas ${contractVersion} speaks to a server of ${server}: ${other}.`, process.stderr),
  );
}

/** Releases that differ in the part that may break something: the first number, or before 1.0 the second. */
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
