import type { Command } from 'commander';

/** Completions at the cursor, given the words before it and the typed part of the last one. */
export function complete(program: Command, words: string[]): string[] {
  const typed = words.at(-1) ?? '';
  const [command, rest] = descend(program, words.slice(0, -1));
  const before = rest.at(-1);
  const waiting = before
    ? optionsOf(command).find((option) => option.long === before || option.short === before)
    : undefined;
  if (waiting?.required && !waiting.isBoolean()) return startingWith(typed, waiting.argChoices ?? []);
  if (typed.startsWith('-'))
    return startingWith(
      typed,
      optionsOf(command).flatMap((one) => one.long ?? []),
    );
  const position = rest.filter((word) => !word.startsWith('-')).length;
  return startingWith(typed, [
    ...command.commands.map((one) => one.name()),
    ...(command.registeredArguments[position]?.argChoices ?? []),
  ]);
}

/** The innermost command that is named, and the words after its name. */
function descend(command: Command, words: string[]): [Command, string[]] {
  const at = words.findIndex((word) => command.commands.some((one) => one.name() === word));
  if (at < 0) return [command, words];
  return descend(
    command.commands.find((one) => one.name() === words[at])!,
    words.slice(at + 1),
  );
}

function optionsOf(command: Command): readonly Command['options'][number][] {
  return command.parent ? [...command.options, ...optionsOf(command.parent)] : command.options;
}

function startingWith(typed: string, candidates: readonly string[]): string[] {
  return [...new Set(candidates)].filter((one) => one.startsWith(typed)).toSorted();
}
