/**
 * Tuning of the management network, in host and guest alike. The fabric has its own: a function belongs to
 * its guest.
 */
export interface NetworkProfile {
  hostSysctls: Readonly<Record<string, string>>;
  /** Set in every guest when it boots. */
  guestSysctls: Readonly<Record<string, string>>;
  /** MTU of the bridge and of the machines' links, sent to guests by DHCP. */
  mtu: number;
  /** Of a guest's card; never more than it has processors. */
  queues: number;
}

/** Buffers for a transfer of 25 Gbit/s over 20 ms, and pacing that a full queue does not undo. */
const LARGE_WINDOWS = {
  'net.core.rmem_max': '67108864',
  'net.core.wmem_max': '67108864',
  'net.ipv4.tcp_rmem': '4096 131072 67108864',
  'net.ipv4.tcp_wmem': '4096 65536 67108864',
  'net.core.default_qdisc': 'fq',
};

export const NETWORK_PROFILES = {
  /** Works on every network. */
  standard: { hostSysctls: {}, guestSysctls: {}, mtu: 1500, queues: 1 },
  /** Data sets and checkpoints over the management network. Its switches must carry frames of 9000 bytes. */
  throughput: {
    hostSysctls: { ...LARGE_WINDOWS, 'net.core.netdev_max_backlog': '16384' },
    guestSysctls: LARGE_WINDOWS,
    mtu: 9000,
    queues: 8,
  },
} as const satisfies Record<string, NetworkProfile>;

export type NetworkProfileName = keyof typeof NETWORK_PROFILES;

export const STANDARD_MTU = NETWORK_PROFILES.standard.mtu;

export function isNetworkProfile(name: string): name is NetworkProfileName {
  return name in NETWORK_PROFILES;
}
