import { describe, expect, it } from 'vitest';
import { CachedValue, ValueUnavailableError } from './cached-value.ts';

const RULES = { maxAgeMs: 300_000, staleMs: 3_600_000, pauseMs: 30_000, retryMs: 5000 };

function keep() {
  const world = { time: 0, loads: 0, broken: false };
  const kept = new CachedValue(
    async () => {
      world.loads += 1;
      await Promise.resolve();
      if (world.broken) throw new Error('down');
      return `value ${world.loads}`;
    },
    RULES,
    () => world.time,
  );
  return { world, kept };
}

describe('a cached value', () => {
  it('is fetched once for concurrent readers, and again when it is too old', async () => {
    const { world, kept } = keep();
    const answers = await Promise.all(Array.from({ length: 50 }, () => kept.get()));
    expect(new Set(answers)).toEqual(new Set(['value 1']));
    world.time = RULES.maxAgeMs - 1;
    expect(await kept.get()).toBe('value 1');
    world.time = RULES.maxAgeMs;
    expect(await kept.get()).toBe('value 2');
    expect(world.loads).toBe(2);
  });

  it('is refreshed ahead of time, but not at every request of one caller', async () => {
    const { world, kept } = keep();
    await kept.get();
    world.time = RULES.pauseMs;
    expect(await kept.refresh()).toBe(true);
    for (let asked = 0; asked < 1000; asked += 1) expect(await kept.refresh()).toBe(false);
    expect(world.loads).toBe(2);
  });

  it('serves the last value while the source is down, for a limited time, and retries now and then', async () => {
    const { world, kept } = keep();
    await kept.get();
    world.broken = true;
    world.time = RULES.staleMs - 1;
    expect(await kept.get()).toBe('value 1');
    for (let asked = 0; asked < 100; asked += 1) await kept.get();
    expect(world.loads).toBe(2);
    await expect(kept.refresh()).rejects.toThrow(ValueUnavailableError);
    world.time = RULES.staleMs;
    await expect(kept.get()).rejects.toThrow(ValueUnavailableError);
    world.broken = false;
    world.time += RULES.retryMs;
    expect(await kept.get()).toBe('value 3');
  });

  it('says when to try again if there never was a value', async () => {
    const { world, kept } = keep();
    world.broken = true;
    await expect(kept.get()).rejects.toMatchObject({ retryAfterSeconds: 5 });
    world.time = 3000;
    await expect(kept.get()).rejects.toMatchObject({ retryAfterSeconds: 2 });
    expect(world.loads).toBe(1);
  });
});
