import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** The address of a client before fastify has a request: behind trusted proxies the one that they name. */
export function clientAddresses(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  const trusted = new BlockList();
  for (const proxy of trustedProxies) {
    const [address = '', prefix] = proxy.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(prefix), family);
  }
  const isTrusted = (address: string): boolean =>
    isIP(address) !== 0 && trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  return (request) => {
    const own = (request.socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/, '');
    const forwarded = String(request.headers['x-forwarded-for'] ?? '').split(',');
    const way = [own, ...forwarded.map((address) => address.trim()).toReversed()].filter(Boolean);
    return way.find((address) => !isTrusted(address)) ?? way.at(-1) ?? '';
  };
}
