import { describe, expect, it } from 'vitest';
import { expandAddressPool, choosePublicAddress } from './choose-public-address.ts';

const wanted = { nodeId: 'n1', protocol: 'tcp', publicPort: 443 };
const taken = (node_id: string, public_address: string, public_port: number, protocol = 'tcp') => ({
  node_id,
  public_address,
  public_port,
  protocol,
});

describe('the public address of a port', () => {
  it('comes from blocks and single addresses, each once', () => {
    expect(expandAddressPool(['203.0.113.6/30', '198.51.100.255', '203.0.113.5'])).toEqual([
      '203.0.113.4',
      '203.0.113.5',
      '203.0.113.6',
      '203.0.113.7',
      '198.51.100.255',
    ]);
  });

  it('is one that the host answers for already, where the port is free', () => {
    const pool = ['203.0.113.4/30'];
    expect(choosePublicAddress(pool, [], wanted)).toBe('203.0.113.4');
    expect(choosePublicAddress(pool, [taken('n1', '203.0.113.6', 80)], wanted)).toBe('203.0.113.6');
    expect(choosePublicAddress(pool, [taken('n1', '203.0.113.6', 443, 'udp')], wanted)).toBe('203.0.113.6');
    expect(choosePublicAddress(pool, [taken('n1', '203.0.113.4', 443)], wanted)).toBe('203.0.113.5');
  });

  it('is none that stands on another host, also for another port', () => {
    expect(choosePublicAddress(['203.0.113.4'], [taken('n2', '203.0.113.4', 80)], wanted)).toBeNull();
    expect(choosePublicAddress([], [], wanted)).toBeNull();
  });
});
