import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { beginRedaction, endRedaction, MASK, redact, redactStream } from './redact.ts';

function redacted(secrets: readonly string[], chunks: readonly string[]): string {
  let state = beginRedaction(secrets);
  let output = '';
  for (const chunk of chunks) {
    const step = redact(state, Buffer.from(chunk).toString('latin1'));
    state = step.state;
    output += step.text;
  }
  return Buffer.from(output + endRedaction(state), 'latin1').toString();
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Few letters, so that values overlap, repeat and contain each other. */
const overlapping = fc.stringMatching(/^[ab\n]{4,9}$/);
const values = fc.oneof(
  overlapping,
  fc.string({ minLength: 4, maxLength: 40 }),
  fc.base64String({ minLength: 8 }),
);
const cut = (text: string, places: readonly number[]): string[] => {
  const ends = [...places.map((place) => place % (text.length + 1)), text.length].sort((a, b) => a - b);
  return ends.map((end, n) => text.slice(ends[n - 1] ?? 0, end));
};

describe('a redacted log', () => {
  it.each([
    ['in one chunk', ['say s3cret-value twice: s3cret-value.'], `say ${MASK} twice: ${MASK}.`],
    ['split over two chunks', ['say s3cr', 'et-value!'], `say ${MASK}!`],
    ['a byte at a time', 'say s3cret-value!'.split(''), `say ${MASK}!`],
    ['as base64', [`key ${base64('s3cret-value')}`], `key ${MASK}`],
    [
      'as base64 split',
      [`key ${base64('s3cret-value').slice(0, 5)}`, base64('s3cret-value').slice(5)],
      `key ${MASK}`,
    ],
    ['of which only the begin came', ['say s3cret', '-val'], 'say s3cret-val'],
  ])('masks a secret %s', (_, chunks, expected) => {
    expect(redacted(['s3cret-value'], chunks)).toBe(expected);
  });

  it('masks a secret inside the base64 of something longer', () => {
    for (const user of ['a', 'ab', 'abc', 'abcd']) {
      const header = base64(`${user}:s3cret-value`);
      const output = redacted(['s3cret-value'], [`Authorization: Basic ${header}`]);
      expect(output).toContain(MASK);
      expect(Buffer.from(output.split(' ').at(-1)!.replaceAll('*', ''), 'base64').toString()).not.toContain(
        'secr',
      );
    }
  });

  it('masks each line of a longer value, and values in JSON and in a URL', () => {
    const key = '-----BEGIN KEY-----\nabcdefghijkl\nmnopqrstuvwx\n-----END KEY-----';
    expect(redacted([key], ['1: abcdefghijkl\n2: mnopqrstuvwx\n'])).toBe(`1: ${MASK}\n2: ${MASK}\n`);
    expect(redacted(['pass"word/1'], [JSON.stringify({ p: 'pass"word/1' })])).toBe(`{"p":"${MASK}"}`);
    expect(redacted(['pass word/1'], [`?p=${encodeURIComponent('pass word/1')}&q`])).toBe(`?p=${MASK}&q`);
  });

  it('lets through everything of a log without secrets, and does not mask words of three letters', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), fc.array(fc.nat(), { maxLength: 5 }), (text, places) => {
        const wellFormed = text.toWellFormed();
        expect(redacted(['a secret that the log does not have'], cut(wellFormed, places))).toBe(wellFormed);
        expect(redacted(['abc', ''], cut(wellFormed, places))).toBe(wellFormed);
      }),
    );
  });

  it('contains no secret and no base64 of one, wherever the chunks are cut, and is the same for every cut', () => {
    fc.assert(
      fc.property(
        fc.array(values, { minLength: 1, maxLength: 4 }),
        fc.array(fc.tuple(fc.string({ maxLength: 10 }), fc.nat(), fc.boolean()), { maxLength: 12 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        (secrets, parts, places) => {
          const text = parts
            .map(([filler, n, encoded]) => {
              const secret = secrets[n % secrets.length]!;
              return `${filler}${encoded ? base64(secret) : secret}`;
            })
            .join('')
            .toWellFormed();
          const whole = redacted(secrets, [text]);
          expect(redacted(secrets, cut(text, places))).toBe(whole);
          // A mask may complete a value that contains its letters; nothing of the log is left in it then.
          for (const secret of secrets.filter((one) => !one.includes('*'))) {
            expect(whole).not.toContain(secret);
            expect(whole).not.toContain(base64(secret));
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('streams in time that grows with its length, also for values that repeat themselves', async () => {
    const secret = 'a'.repeat(32_768);
    const log = Buffer.alloc(2_000_000, 'a');
    const chunks = Array.from({ length: 40 }, (_, n) => log.subarray(n * 50_000, (n + 1) * 50_000));
    expect(String(await buffer(Readable.from(chunks).pipe(redactStream([secret]))))).toBe(MASK);
  });
});
