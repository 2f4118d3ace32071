import { describe, expect, it } from 'vitest';
import { simulateAndVerify } from './simulate-and-verify.ts';

describe('a virtual month of leases, payments, silences, crashes and corrections', () => {
  it('adds up to the micro-unit', async () => {
    const simulation = await simulateAndVerify({ seed: 1, steps: 36, hosts: 4, tenants: 5, launches: 5 });
    expect(simulation.leases).toBeGreaterThan(50);
    expect(simulation.payments).toBeGreaterThan(10);
    expect(simulation.crashes).toBeGreaterThan(0);
    expect(simulation.topUps).toBeGreaterThan(2);
    expect(simulation.statements).toBeGreaterThan(2);
  });
});
