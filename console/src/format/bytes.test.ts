import { expect, test } from 'vitest';
import { formatBytes } from './bytes.ts';

test.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1 KiB'],
  [1_610_612_736, '1.5 GiB'],
  [150 * 1024 ** 2, '150 MiB'],
])('%d bytes are %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});
