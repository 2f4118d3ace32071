import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutLog } from './cut-log.ts';

const SECRET = 's3cret-value';

/** Ships a log in chunks of a size, as observations do. */
function shipped(log: Buffer, size: number): string {
  let text = '';
  for (let at = 0; at < log.length;) {
    const chunk = log.subarray(at, at + size);
    const isEnd = at + size >= log.length;
    const cut = cutLog(chunk, [SECRET], { isEnd });
    text += cut.text.toString();
    if (cut.taken === 0) size *= 2;
    at += cut.taken;
  }
  return text;
}

describe('a shipped log', () => {
  it('ends with a line until it is over', () => {
    const chunk = Buffer.from('one\ntwo\nthr');
    expect(cutLog(chunk, [], { isEnd: false })).toEqual({ text: Buffer.from('one\ntwo\n'), taken: 8 });
    expect(cutLog(chunk, [], { isEnd: true }).taken).toBe(chunk.length);
    expect(cutLog(Buffer.from('thr'), [], { isEnd: false }).taken).toBe(0);
  });

  it('has every byte and no secret, wherever the chunks end', () => {
    const parts = fc.array(fc.constantFrom('a line\n', `say ${SECRET}!\n`, 'no end ', SECRET, '\n', 'ü'), {
      minLength: 1,
      maxLength: 40,
    });
    fc.assert(
      fc.property(parts, fc.integer({ min: 1, max: 50 }), (words, size) => {
        const log = words.join('');
        const text = shipped(Buffer.from(log), size);
        expect(text).not.toContain(SECRET);
        expect(text.replaceAll(/(\*\*\*)+/g, '#')).toBe(
          log.replaceAll(SECRET, '***').replaceAll(/(\*\*\*)+/g, '#'),
        );
      }),
    );
  });

  it('has no secret that a long line carries over the end of a chunk', () => {
    const log = Buffer.from(`${'x'.repeat(65_530)}${SECRET}${'y'.repeat(70_000)}`);
    const text = shipped(log, 65_536);
    expect(text).not.toContain('s3cret');
    expect(text).toContain('x***y');
  });
});
