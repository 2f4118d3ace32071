/** Two tokens that stand side by side become one; the position in the list is the new token's number minus 256. */
export type Merge = readonly [left: number, right: number];

export const BYTES = 256;

/** Pieces that no token crosses: a word with the space before it, a number, punctuation, white space. */
const PIECES = / ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+/gu;

export function piecesOf(text: string): string[] {
  return text.match(PIECES) ?? [];
}

/** Learns the most frequent pairs, one after the other. Equal counts are decided by token number. */
export function trainMerges(texts: readonly string[], count: number): Merge[] {
  const frequency = new Map<string, number>();
  for (const piece of texts.flatMap(piecesOf)) frequency.set(piece, (frequency.get(piece) ?? 0) + 1);
  const words = [...frequency].map(([piece, times]) => ({ tokens: [...Buffer.from(piece)], times }));
  const merges: Merge[] = [];
  while (merges.length < count) {
    const best = mostFrequentPair(words);
    if (!best) break;
    const token = BYTES + merges.length;
    merges.push(best);
    for (const word of words) word.tokens = mergePair(word.tokens, best, token);
  }
  return merges;
}

function mostFrequentPair(words: readonly { tokens: number[]; times: number }[]): Merge | null {
  const counts = new Map<number, number>();
  for (const { tokens, times } of words)
    for (let index = 1; index < tokens.length; index += 1) {
      const pair = (tokens[index - 1] ?? 0) * 65_536 + (tokens[index] ?? 0);
      counts.set(pair, (counts.get(pair) ?? 0) + times);
    }
  let best: number | null = null;
  let most = 1;
  for (const [pair, count] of counts)
    if (count > most || (count === most && best !== null && pair < best)) [best, most] = [pair, count];
  return best === null ? null : [Math.floor(best / 65_536), best % 65_536];
}

export function mergePair(tokens: readonly number[], [left, right]: Merge, merged: number): number[] {
  const result: number[] = [];
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index] ?? 0;
    if (token === left && tokens[index + 1] === right) {
      result.push(merged);
      index += 1;
    } else result.push(token);
  }
  return result;
}
