/** Without the first bytes of a character whose rest comes with the next part; bytes that are no UTF-8 stay. */
export function wholeCharacters(text: Buffer): Buffer {
  const longest = 4;
  for (let back = 1; back <= Math.min(longest - 1, text.length); back++) {
    const byte = text[text.length - back] ?? 0;
    const isContinuation = (byte & 0b1100_0000) === 0b1000_0000;
    if (isContinuation) continue;
    const length = byte >= 0b1111_0000 ? 4 : byte >= 0b1110_0000 ? 3 : byte >= 0b1100_0000 ? 2 : 1;
    const cut = length > back && text.length > back;
    return cut ? text.subarray(0, text.length - back) : text;
  }
  return text;
}
