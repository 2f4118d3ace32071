import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import type { Merge } from '../tokenizer/byte-pairs.ts';
import { contextKey, tokensOfKey, type ContextTable, type Discounts, type ModelTables } from './followers.ts';
import { NumberReader, NumberWriter } from './numbers.ts';

/** What training wrote and what the server loads. */
export interface TrainedModel extends ModelTables {
  merges: readonly Merge[];
}

const FORMAT = 1;
/** Discounts are kept as whole millionths. */
const MILLION = 1_000_000;

/** The same model gives the same bytes. */
export function writeModel({ merges, tables, discounts }: TrainedModel): Buffer {
  const writer = new NumberWriter();
  writer.add(FORMAT, merges.length, ...merges.flat(), tables.length);
  for (const [index, table] of tables.entries()) {
    writer.add(...(discounts[index] ?? [0, 0, 0]).map((discount) => Math.round(discount * MILLION)));
    writeTable(writer, table);
  }
  return brotliCompressSync(writer.bytes());
}

export function readModel(file: Buffer): TrainedModel {
  const reader = new NumberReader(brotliDecompressSync(file));
  if (reader.next() !== FORMAT) throw new Error('The model file has another format');
  const merges = Array.from({ length: reader.next() }, (): Merge => [reader.next(), reader.next()]);
  const tables: ContextTable[] = [];
  const discounts: Discounts[] = [];
  for (let left = reader.next(); left > 0; left -= 1) {
    discounts.push([reader.next() / MILLION, reader.next() / MILLION, reader.next() / MILLION]);
    tables.push(readTable(reader, tables.length));
  }
  return { merges, tables, discounts };
}

/** Sorted contexts; each repeats only what differs from the one before. Tokens of a context grow. */
function writeTable(writer: NumberWriter, table: ContextTable): void {
  const contexts = [...table].toSorted(([a], [b]) => (a < b ? -1 : 1));
  writer.add(contexts.length);
  let previous: number[] = [];
  for (const [key, { tokens, counts }] of contexts) {
    const context = tokensOfKey(key);
    const differs = context.findIndex((token, index) => token !== previous[index]);
    const same = differs === -1 ? context.length : differs;
    writer.add(same, ...context.slice(same), tokens.length);
    for (const [index, token] of tokens.entries())
      writer.add(token - (tokens[index - 1] ?? 0), counts[index] ?? 0);
    previous = context;
  }
}

function readTable(reader: NumberReader, length: number): ContextTable {
  const table: ContextTable = new Map();
  let context: number[] = [];
  for (let left = reader.next(); left > 0; left -= 1) {
    const same = reader.next();
    context = [...context.slice(0, same), ...Array.from({ length: length - same }, () => reader.next())];
    const followers = reader.next();
    const tokens: number[] = [];
    const counts: number[] = [];
    let token = 0;
    for (let index = 0; index < followers; index += 1) {
      token += reader.next();
      tokens.push(token);
      counts.push(reader.next());
    }
    table.set(contextKey(context), { tokens, counts });
  }
  return table;
}
