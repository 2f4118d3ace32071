import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** IANA's special-purpose IPv4 blocks: private, shared (CGNAT), loopback, link-local, multicast, documentation … */
const notPublicV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
] as const;

/** Global unicast is all that is routed; inside it these are tunnels to IPv4, documentation or protocol blocks. */
const globalV6 = '2000::/3';
const notPublicV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'] as const;

const blockedV4 = listOf('ipv4', notPublicV4);
const routedV6 = listOf('ipv6', [globalV6]);
const blockedV6 = listOf('ipv6', notPublicV6);

/** True for an address that is reachable from the whole internet. A doubtful address is not public. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !blockedV4.check(address, 'ipv4');
  if (!isIPv6(address) || address.includes('%')) return false;
  return routedV6.check(address, 'ipv6') && !blockedV6.check(address, 'ipv6');
}

function listOf(family: 'ipv4' | 'ipv6', blocks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const block of blocks) {
    const [network, prefix] = block.split('/');
    list.addSubnet(network!, Number(prefix), family);
  }
  return list;
}
