export type CommandOutput = (text: string) => void;

/** Ends a command with a message and exit code 1. */
export class CommandError extends Error {}

export function requireRoot(isRoot: boolean, command: string): void {
  if (!isRoot) throw new CommandError(`${command} needs root; "--dry-run" shows what it would do`);
}
