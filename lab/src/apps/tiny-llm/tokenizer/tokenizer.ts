import { BYTES, mergePair, piecesOf, type Merge } from './byte-pairs.ts';

const MAX_KEPT = 20_000;

/** Byte-level byte-pair encoding: every text has tokens, and the tokens give the text back. */
export class Tokenizer {
  /** The number of tokens, with the one that ends a text. */
  readonly size: number;
  /** Ends a text. */
  readonly end: number;
  readonly #merges: readonly Merge[];
  readonly #ranks = new Map<number, number>();
  readonly #bytes: Uint8Array[];
  readonly #kept = new Map<string, readonly number[]>();

  constructor(merges: readonly Merge[]) {
    this.#merges = merges;
    this.end = BYTES + merges.length;
    this.size = this.end + 1;
    this.#bytes = Array.from({ length: BYTES }, (_, byte) => Uint8Array.of(byte));
    for (const [rank, [left, right]] of merges.entries()) {
      this.#ranks.set(left * 65_536 + right, rank);
      this.#bytes.push(Buffer.concat([this.bytesOf(left), this.bytesOf(right)]));
    }
  }

  encode(text: string): number[] {
    const tokens: number[] = [];
    for (const piece of piecesOf(text)) for (const token of this.#encodePiece(piece)) tokens.push(token);
    return tokens;
  }

  decode(tokens: readonly number[]): string {
    return Buffer.concat(tokens.map((token) => this.bytesOf(token))).toString('utf8');
  }

  bytesOf(token: number): Uint8Array {
    return this.#bytes[token] ?? new Uint8Array();
  }

  #encodePiece(piece: string): readonly number[] {
    const known = this.#kept.get(piece);
    if (known) return known;
    // A piece as long as a request would take the square of its length.
    const bytes = Buffer.from(piece);
    const tokens: number[] = [];
    for (let start = 0; start < bytes.length; start += 64)
      tokens.push(...this.#mergeAll([...bytes.subarray(start, start + 64)]));
    if (this.#kept.size < MAX_KEPT) this.#kept.set(piece, tokens);
    return tokens;
  }

  #mergeAll(tokens: number[]): number[] {
    for (;;) {
      let rank = Infinity;
      for (let index = 1; index < tokens.length; index += 1) {
        const pair = (tokens[index - 1] ?? 0) * 65_536 + (tokens[index] ?? 0);
        rank = Math.min(rank, this.#ranks.get(pair) ?? Infinity);
      }
      const merge = this.#merges[rank];
      if (!merge) return tokens;
      tokens = mergePair(tokens, merge, BYTES + rank);
    }
  }
}
