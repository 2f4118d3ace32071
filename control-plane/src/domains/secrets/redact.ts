import { Transform } from 'node:stream';

/** What stands in the place of a secret. */
export const MASK = '***';

/** Shorter values are no secrets; masking them would blank every log. */
const MIN_BYTES = 4;
/** A line of a longer value, or the middle of its base64, must be long enough not to occur by chance. */
const MIN_PART_BYTES = 8;

/** A form in which a secret may be printed, with its failure table (Knuth, Morris and Pratt): one pass finds all. */
interface Pattern {
  text: string;
  falls: Uint32Array;
}

export interface Redaction {
  patterns: readonly Pattern[];
  /** Bytes that may be the begin of a secret; the next chunk decides. */
  held: string;
  /** How many of them belong to a secret that began before. */
  covered: number;
  /** The last byte that was let through is part of a masked run. */
  inMask: boolean;
}

/** Begins the redaction of one log. */
export function beginRedaction(secrets: Iterable<string>): Redaction {
  const texts = new Set([...secrets].flatMap(formsOf));
  const patterns = [...texts].map((text) => ({ text, falls: failureTable(text) }));
  return { patterns, held: '', covered: 0, inMask: false };
}

/**
 * Masks every secret in a chunk, also one that began in a former chunk, and its base64 at any alignment. Text is latin1: one
 * character for each byte. Chunks may be cut anywhere; the output together is the same.
 */
export function redact(state: Redaction, chunk: string): { state: Redaction; text: string } {
  const text = state.held + chunk;
  const isCovered = coverage(state, text);
  const from = Math.min(
    ...state.patterns.map((pattern) => text.length - pendingLength(pattern, text)),
    text.length,
  );
  return settle(state, text, isCovered, from);
}

/** The rest of the log: what was held is no begin of a secret any more. */
export function endRedaction(state: Redaction): string {
  return settle(state, state.held, coverage(state, state.held), state.held.length).text;
}

/** A stream of log bytes without the secrets. */
export function redactStream(secrets: Iterable<string>): Transform {
  let state = beginRedaction(secrets);
  return new Transform({
    transform(chunk: Buffer, _, done) {
      const redacted = redact(state, chunk.toString('latin1'));
      state = redacted.state;
      done(null, Buffer.from(redacted.text, 'latin1'));
    },
    flush(done) {
      done(null, Buffer.from(endRedaction(state), 'latin1'));
    },
  });
}

/** Lets everything before `from` through, with a mask for each run of covered bytes. */
function settle(
  { patterns, inMask }: Redaction,
  text: string,
  isCovered: Uint8Array,
  from: number,
): { state: Redaction; text: string } {
  let output = '';
  let masked = inMask;
  for (let at = 0; at < from;) {
    const covered = isCovered[at] === 1;
    let end = at + 1;
    while (end < from && (isCovered[end] === 1) === covered) end++;
    if (!covered) output += text.slice(at, end);
    else if (!masked) output += MASK;
    masked = covered;
    at = end;
  }
  let covered = 0;
  while (from + covered < text.length && isCovered[from + covered] === 1) covered++;
  return { text: output, state: { patterns, held: text.slice(from), covered, inMask: masked } };
}

function coverage({ patterns, covered }: Redaction, text: string): Uint8Array {
  const isCovered = new Uint8Array(text.length).fill(1, 0, covered);
  for (const pattern of patterns) {
    if (!text.includes(pattern.text)) continue;
    const { length } = pattern.text;
    let marked = 0;
    walk(pattern, text, 0, (end) => {
      isCovered.fill(1, Math.max(marked, end - length), end);
      marked = end;
    });
  }
  return isCovered;
}

/** Length of the longest end of the text with which the pattern begins, the whole pattern excepted. */
function pendingLength(pattern: Pattern, text: string): number {
  return walk(pattern, text, Math.max(0, text.length - pattern.text.length + 1), () => undefined);
}

/** Reads the text from a place on; names the end of each occurrence, and returns how much of one has begun. */
function walk(
  { text: word, falls }: Pattern,
  text: string,
  from: number,
  onEnd: (end: number) => void,
): number {
  let matched = 0;
  for (let at = from; at < text.length; at++) {
    const next = text.charCodeAt(at);
    while (matched > 0 && word.charCodeAt(matched) !== next) matched = falls[matched - 1] ?? 0;
    if (word.charCodeAt(matched) === next) matched++;
    if (matched < word.length) continue;
    onEnd(at + 1);
    matched = falls[matched - 1] ?? 0;
  }
  return matched;
}

function failureTable(word: string): Uint32Array {
  const falls = new Uint32Array(word.length);
  for (let at = 1, matched = 0; at < word.length; at++) {
    while (matched > 0 && word[matched] !== word[at]) matched = falls[matched - 1] ?? 0;
    if (word[matched] === word[at]) matched++;
    falls[at] = matched;
  }
  return falls;
}

/** How a value may show in a log: as it is, by lines, escaped, and as base64. */
function formsOf(secret: string): string[] {
  const value = Buffer.from(secret);
  if (value.length < MIN_BYTES) return [];
  const lines = secret.split(/\r?\n/).filter((line) => Buffer.byteLength(line) >= MIN_PART_BYTES);
  const escaped = [JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())];
  return [
    ...[secret, ...lines, ...escaped].map((text) => Buffer.from(text).toString('latin1')),
    ...base64Of(value),
  ];
}

/** Whole, and the part that is the same wherever the value stands inside something longer. */
function base64Of(value: Buffer): string[] {
  const whole = value.toString('base64');
  const middles = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), value]).toString('base64');
    return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + value.length) * 8) / 6));
  });
  const forms = [whole, whole.replace(/=+$/, ''), ...middles.filter((text) => text.length >= MIN_PART_BYTES)];
  return forms.flatMap((text) => [text, text.replaceAll('+', '-').replaceAll('/', '_')]);
}
