import { expect, it } from 'vitest';
import { createPlatformClock } from './platform-clock.ts';

const SERVER = Date.parse('2026-11-15T12:00:00.000Z');

it.each([-86_400_000, -1_500, 0, 1_500, 86_400_000])('a host %i ms off knows the platform’s time', (skew) => {
  let real = SERVER;
  const clock = createPlatformClock(() => real + skew);
  expect(clock.offsetMs()).toBeNull();
  const sentAt = clock.localNow();
  real += 40;
  clock.noteTime(new Date(SERVER + 20).toISOString(), sentAt);
  expect(clock.offsetMs()).toBe(skew);
  real += 60_000;
  expect(clock.now().getTime()).toBe(real);
  expect(clock.localNow().getTime()).toBe(real + skew);
});

it('uses a date header without a better source, and to correct a stepped clock', () => {
  let local = SERVER + 86_400_000;
  const clock = createPlatformClock(() => local);
  clock.noteDate(new Date(SERVER).toUTCString());
  expect(clock.offsetMs()).toBe(86_400_000);
  clock.noteDate(new Date(SERVER - 1_000).toUTCString());
  expect(clock.offsetMs()).toBe(86_400_000);
  local = SERVER;
  clock.noteDate(new Date(SERVER).toUTCString());
  expect(clock.offsetMs()).toBe(0);
  clock.noteDate('not a date');
  clock.noteDate(undefined);
  expect(clock.offsetMs()).toBe(0);
});
