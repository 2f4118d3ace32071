import { describe, expect, it } from 'vitest';
import { KeptValue, ValueUnavailable } from './kept-value.ts';

const RULES = { maxAgeMs: 300_000, staleMs: 3_600_000, pauseMs: 30_000, retryMs: 5000 };

function keep() {
  const world = { time: 0, loads: 0, broken: false };
  const kept = new KeptValue(
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

describe('a kept value', () => {
  it('is fetched once for many who ask at the same time, and again when it is too old', async () => {
    const { world, kept } = keep();
    const answers = await Promise.all(Array.from({ length: 50 }, () => kept.get()));
    expect(new Set(answers)).toEqual(new Set(['value 1']));
    world.time = RULES.maxAgeMs - 1;
    expect(await kept.get()).toBe('value 1');
    world.time = RULES.maxAgeMs;
    expect(await kept.get()).toBe('value 2');
    expect(world.loads).toBe(2);
  });

  it('is refreshed ahead of time, but not by whoever asks again and again', async () => {
    const { world, kept } = keep();
    await kept.get();
    world.time = RULES.pauseMs;
    expect(await kept.refresh()).toBe(true);
    for (let asked = 0; asked < 1000; asked += 1) expect(await kept.refresh()).toBe(false);
    expect(world.loads).toBe(2);
  });

  it('serves the last one while the source is down, within a bound, and asks it now and then', async () => {
    const { world, kept } = keep();
    await kept.get();
    world.broken = true;
    world.time = RULES.staleMs - 1;
    expect(await kept.get()).toBe('value 1');
    for (let asked = 0; asked < 100; asked += 1) await kept.get();
    expect(world.loads).toBe(2);
    await expect(kept.refresh()).rejects.toThrow(ValueUnavailable);
    world.time = RULES.staleMs;
    await expect(kept.get()).rejects.toThrow(ValueUnavailable);
    world.broken = false;
    world.time += RULES.retryMs;
    expect(await kept.get()).toBe('value 3');
  });

  it('says when to ask again if there never was one', async () => {
    const { world, kept } = keep();
    world.broken = true;
    await expect(kept.get()).rejects.toMatchObject({ retryAfterSeconds: 5 });
    world.time = 3000;
    await expect(kept.get()).rejects.toMatchObject({ retryAfterSeconds: 2 });
    expect(world.loads).toBe(1);
  });
});
