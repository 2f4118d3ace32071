/** Somebody can be asked: only then is anything asked. */
export function isInteractive({ json }: { json: boolean }): boolean {
  return !json && process.stdin.isTTY && process.stderr.isTTY;
}
