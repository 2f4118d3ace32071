import { expect, test } from 'vitest';
import { checkedFetch } from './checked-fetch.ts';

test('a name that does not resolve is given up with the request', async () => {
  const fetch = checkedFetch(() => ({
    allowPrivateTargets: false,
    lookup: () => new Promise(() => undefined),
  }));
  const asked = fetch('https://silent.example.com/', { signal: AbortSignal.timeout(50) });
  await expect(asked).rejects.toMatchObject({ name: 'TimeoutError' });
});

test('an address that is not public is never connected to', async () => {
  const fetch = checkedFetch(() => ({
    allowPrivateTargets: false,
    lookup: async () => [{ address: '127.0.0.1', family: 4 }],
  }));
  await expect(fetch('https://rebinding.example.com/', {})).rejects.toThrow('not public');
});
