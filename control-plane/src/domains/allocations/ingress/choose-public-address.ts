/** A used port. Its owner does not matter, but a public address is on one host at a time. */
export interface UsedPort {
  node_id: string;
  public_address: string;
  protocol: string;
  public_port: number;
}

/**
 * The address for a port on a host: one that the host already answers for, else an unused one. Null if the
 * port is taken on every address, or all addresses are on other hosts.
 */
export function choosePublicAddress(
  pool: readonly string[],
  taken: readonly UsedPort[],
  wanted: { nodeId: string; protocol: string; publicPort: number },
): string | null {
  const hostOf = new Map(taken.map(({ public_address, node_id }) => [public_address, node_id]));
  const isFree = (address: string): boolean =>
    !taken.some(
      (one) =>
        one.public_address === address &&
        one.protocol === wanted.protocol &&
        one.public_port === wanted.publicPort,
    );
  const addresses = expandAddressPool(pool).filter(isFree);
  return (
    addresses.find((address) => hostOf.get(address) === wanted.nodeId) ??
    addresses.find((address) => !hostOf.has(address)) ??
    null
  );
}

/** The single addresses of a pool of addresses and blocks, each once, in the order of the pool. */
export function expandAddressPool(pool: readonly string[]): string[] {
  return [...new Set(pool.flatMap(expand))];
}

function expand(entry: string): string[] {
  const [address = '', prefix = '32'] = entry.split('/');
  const size = 2 ** (32 - Number(prefix));
  const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const first = number - (number % size);
  return Array.from({ length: size }, (_, index) => dotted(first + index));
}

function dotted(number: number): string {
  return [24, 16, 8, 0].map((bits) => Math.floor(number / 2 ** bits) % 256).join('.');
}
