const SHOWN_AT_MOST = 50;

/** Commands that contain every typed word in their name or kind. */
export function filterCommands<Item extends { label: string; hint: string }>(
  commands: Item[],
  typed: string,
): Item[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return commands
    .filter(({ label, hint }) => words.every((word) => `${label} ${hint}`.toLowerCase().includes(word)))
    .slice(0, SHOWN_AT_MOST);
}
