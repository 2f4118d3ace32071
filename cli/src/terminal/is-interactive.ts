/** Prompts are possible: input and output are a terminal. */
export function isInteractive({ json }: { json: boolean }): boolean {
  return !json && process.stdin.isTTY && process.stderr.isTTY;
}
