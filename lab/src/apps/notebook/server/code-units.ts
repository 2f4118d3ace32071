/** The protocol counts positions in characters, JavaScript in units of 16 bits. */
export function toCodeUnit(text: string, position: number): number {
  let units = 0;
  let characters = 0;
  for (const character of text) {
    if (characters >= position) break;
    characters += 1;
    units += character.length;
  }
  return units;
}

export function toCodePoint(text: string, unit: number): number {
  return Array.from(text.slice(0, unit)).length;
}
