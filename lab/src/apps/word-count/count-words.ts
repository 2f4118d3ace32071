/** Words of a text in lower case with their counts; adds to `counts`. */
export function countWords(counts: Map<string, number>, text: string): void {
  for (const [word] of text.toLowerCase().matchAll(/\p{L}[\p{L}\p{N}'’-]*/gu))
    counts.set(word, (counts.get(word) ?? 0) + 1);
}

/** The most frequent words first; words of the same count in alphabetical order. */
export function mostFrequent(counts: ReadonlyMap<string, number>, top: number): [string, number][] {
  return [...counts]
    .toSorted(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1))
    .slice(0, top);
}
