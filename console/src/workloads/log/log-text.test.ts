import { expect, test } from 'vitest';
import { appendLog, EMPTY_LOG, MAX_CHARACTERS } from './log-text.ts';

function part(content: string, offset = 0, complete = false) {
  const next = offset + content.length;
  return { member_id: 'm1', offset, next_offset: next, content, complete, truncated: false };
}

test('parts join, and the last one says that the log is complete', () => {
  const log = appendLog(appendLog(EMPTY_LOG, part('one\ntw')), part('o\n', 6, true));
  expect(log).toEqual({ text: 'one\ntwo\n', cut: false, complete: true, truncated: false });
});

test('a text that begins inside the log begins with a whole line, and says that there is more', () => {
  const log = appendLog(EMPTY_LOG, part('nd of a line\nwhole\n', 500));
  expect(log).toMatchObject({ text: 'whole\n', cut: true });
});

test('an empty part at the end of a log is no cut', () => {
  expect(appendLog(EMPTY_LOG, part('', 500))).toMatchObject({ text: '', cut: false });
});

test('the page keeps the end of a long log, from a whole line on', () => {
  const line = `${'x'.repeat(99)}\n`;
  const log = appendLog(EMPTY_LOG, part(line.repeat(MAX_CHARACTERS / 100 + 10)));
  expect(log.cut).toBe(true);
  expect(log.text.length).toBeLessThanOrEqual(MAX_CHARACTERS);
  expect(log.text.startsWith('x')).toBe(true);
  expect(log.text.length % 100).toBe(0);
});

test('colours and cursor moves are left out', () => {
  const log = appendLog(EMPTY_LOG, part('\u001b[31mred\u001b[0m\r\n10%\r20%\u0007\n'));
  expect(log.text).toBe('red\n10%\n20%\n');
});
