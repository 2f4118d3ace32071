import fc from 'fast-check';
import { expect, it } from 'vitest';
import { wholeCharacters } from './whole-characters.ts';

it('parts of a text that are cut between characters make the text again', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', minLength: 1 }),
      fc.integer({ min: 4, max: 9 }),
      (text, size) => {
        const bytes = Buffer.from(text);
        let read = '';
        for (let at = 0; at < bytes.length;) {
          const isLast = at + size >= bytes.length;
          const part = bytes.subarray(at, at + size);
          const whole = isLast ? part : wholeCharacters(part);
          expect(whole.length).toBeGreaterThan(0);
          read += whole.toString('utf8');
          at += whole.length;
        }
        expect(read).toBe(text.toWellFormed());
      },
    ),
  );
});

it('bytes that are no text are passed on', () => {
  const noise = Buffer.from([0x80, 0x80, 0x80, 0x80, 0x80]);
  expect(wholeCharacters(noise)).toEqual(noise);
  expect(wholeCharacters(Buffer.from([0xf0]))).toEqual(Buffer.from([0xf0]));
});
