import { contextKey, type ContextTable, type Discounts, type ModelTables } from './followers.ts';

/**
 * Modified Kneser-Ney (Chen and Goodman 1999). The longest contexts count how often a token followed; shorter ones count
 * after how many different tokens it did, since they are asked only where a longer context does not know.
 */
export function trainTables(texts: readonly (readonly number[])[], order: number): ModelTables {
  const tables: ContextTable[] = [];
  const discounts: Discounts[] = [];
  for (let length = 0; length < order; length += 1) {
    const counts = length === order - 1 ? countRuns(texts, length + 1) : countPredecessors(texts, length + 1);
    discounts.push(estimateDiscounts(counts));
    tables.push(groupByContext(counts));
  }
  return { tables, discounts };
}

/** How often each run of `length` tokens occurs. */
function countRuns(texts: readonly (readonly number[])[], length: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (const run of runsOf(texts, length)) counts.set(run, (counts.get(run) ?? 0) + 1);
  return counts;
}

/** Before each run of `length` tokens: how many different tokens. Nothing precedes the beginning of a text: it counts itself. */
function countPredecessors(texts: readonly (readonly number[])[], length: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (const longer of new Set(runsOf(texts, length + 1))) {
    const run = longer.slice(1);
    counts.set(run, (counts.get(run) ?? 0) + 1);
  }
  for (const text of texts) {
    const beginning = contextKey(text.slice(0, length));
    counts.set(beginning, (counts.get(beginning) ?? 0) + 1);
  }
  return counts;
}

function* runsOf(texts: readonly (readonly number[])[], length: number): Generator<string> {
  for (const text of texts)
    for (let end = length; end <= text.length; end += 1) yield contextKey(text.slice(end - length, end));
}

function estimateDiscounts(counts: ReadonlyMap<string, number>): Discounts {
  const times = [0, 0, 0, 0, 0];
  for (const count of counts.values()) if (count <= 4) times[count] = (times[count] ?? 0) + 1;
  const [, one = 0, two = 0, three = 0, four = 0] = times;
  const share = one / (one + 2 * two || 1);
  const discount = (count: number, here: number, next: number): number =>
    here === 0 ? 0.5 * count : Math.min(Math.max(count - (count + 1) * share * (next / here), 0.05), count);
  return [discount(1, one, two), discount(2, two, three), discount(3, three, four)];
}

function groupByContext(counts: ReadonlyMap<string, number>): ContextTable {
  const all = new Map<string, { token: number; count: number }[]>();
  for (const [run, count] of counts) {
    const context = run.slice(0, -1);
    const followers = all.get(context) ?? [];
    all.set(context, followers);
    followers.push({ token: run.charCodeAt(run.length - 1), count });
  }
  const table: ContextTable = new Map();
  for (const [context, followers] of all) {
    const sorted = followers.toSorted((a, b) => a.token - b.token);
    const grouped = { tokens: sorted.map(({ token }) => token), counts: sorted.map(({ count }) => count) };
    table.set(context, grouped);
  }
  return table;
}
