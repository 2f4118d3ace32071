import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatMoney as formatByPlatform } from '@gpuaas/control-plane/platform/money';
import { formatMoney } from './money.ts';

/** The console uses a true minus and plain spaces; everything else must be equal. */
const plain = (text: string): string => text.replace('−', '-').replaceAll('\u00A0', ' ');

test('console and platform format every amount alike', () => {
  const currency = fc.constantFrom('USD', 'EUR', 'GBP', 'AED', 'CHF');
  const micros = fc.oneof(fc.maxSafeInteger(), fc.integer(), fc.constantFrom(0, 1, -1, 999_999, -500_000));
  fc.assert(
    fc.property(currency, micros, (code, amount) => {
      const byPlatform = formatByPlatform({ currency: code, micros: BigInt(amount) });
      expect(plain(formatMoney({ currency: code, micros: amount }))).toBe(plain(byPlatform));
    }),
  );
});
