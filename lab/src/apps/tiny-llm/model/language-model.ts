import { contextKey, type Discounts, type ModelTables } from './followers.ts';

/** Probabilities of the next token, interpolated over contexts of every length. */
export class LanguageModel {
  readonly #tables: ModelTables;
  readonly #size: number;

  constructor(tables: ModelTables, size: number) {
    this.#tables = tables;
    this.#size = size;
  }

  /** How many tokens before the next one matter. */
  get contextLength(): number {
    return this.#tables.tables.length - 1;
  }

  /** One probability for each token; their sum is 1. */
  next(before: readonly number[]): Float64Array {
    const probabilities = new Float64Array(this.#size).fill(1 / this.#size);
    for (const [length, table] of this.#tables.tables.entries()) {
      if (length > before.length) break;
      const followers = table.get(contextKey(before.slice(before.length - length)));
      if (!followers) continue;
      const { tokens, counts } = followers;
      const total = counts.reduce((sum, count) => sum + count, 0);
      const discounts = this.#tables.discounts[length] ?? [0, 0, 0];
      let given = 0;
      const own = counts.map((count) => {
        const left = (count - discountOf(discounts, count)) / total;
        given += left;
        return left;
      });
      const rest = 1 - given;
      for (let token = 0; token < this.#size; token += 1)
        probabilities[token] = rest * (probabilities[token] ?? 0);
      for (const [index, token] of tokens.entries())
        probabilities[token] = (probabilities[token] ?? 0) + (own[index] ?? 0);
    }
    return probabilities;
  }

  /** `exp` of the mean negative log probability of the tokens after the first. */
  perplexity(texts: readonly (readonly number[])[]): number {
    let sum = 0;
    let count = 0;
    for (const text of texts)
      for (let index = 1; index < text.length; index += 1) {
        const before = text.slice(Math.max(0, index - this.contextLength), index);
        sum -= Math.log(this.next(before)[text[index] ?? 0] ?? 0);
        count += 1;
      }
    return Math.exp(sum / count);
  }
}

function discountOf([one, two, more]: Discounts, count: number): number {
  return count === 1 ? one : count === 2 ? two : more;
}
