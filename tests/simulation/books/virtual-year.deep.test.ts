import { describe, expect, it } from 'vitest';
import { simulateAndVerify } from './simulate-and-verify.ts';

describe('a virtual year of leases, payments, top-ups, refunds, disputes, statements, silences, crashes and corrections', () => {
  it.each([11, 12])('adds up to the micro-unit (seed %i)', async (seed) => {
    const simulation = await simulateAndVerify({ seed, steps: 440, hosts: 6, tenants: 20, launches: 12 });
    expect(simulation.leases).toBeGreaterThan(2000);
    expect(simulation.payments).toBeGreaterThan(200);
    expect(simulation.crashes).toBeGreaterThan(0);
    expect(simulation.topUps).toBeGreaterThan(50);
    expect(simulation.statements).toBeGreaterThan(150);
  });
});
