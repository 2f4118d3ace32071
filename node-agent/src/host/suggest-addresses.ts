import { createHash } from 'node:crypto';

export interface SuggestedAddresses {
  management_mac: string;
  private_ip: string;
  ovs_port: string;
}

/** Deterministic per host; an operator may choose otherwise. */
export function suggestAddresses(hostname: string): (slotIndex: number) => SuggestedAddresses {
  const digest = createHash('sha256').update(hostname).digest();
  const [a = 0, b = 0, c = 0, net = 0, subnet = 0] = digest;
  return (slotIndex) => ({
    // 52:54 is a locally administered unicast prefix.
    management_mac: ['52', '54', hex(a), hex(b), hex(c), hex(0x10 + slotIndex)].join(':'),
    private_ip: `10.${net}.${subnet}.${10 + slotIndex}`,
    ovs_port: `gs${digest.toString('hex', 5, 8)}p${slotIndex}`,
  });
}

function hex(value: number): string {
  return value.toString(16).padStart(2, '0');
}
