import type { NetworkLease } from './host.ts';

/** The address that a MAC should have against the one that it has. */
export function describeLease(mac: string, expected_ip: string, actual_ip: string | null): NetworkLease {
  if (actual_ip === null) return { mac, expected_ip, actual_ip, lease_state: 'missing' };
  return { mac, expected_ip, actual_ip, lease_state: actual_ip === expected_ip ? 'bound' : 'mismatch' };
}
