import { similarLeaseEnd } from './similar-lease-end.ts';
import { mostLeases } from './most-leases.ts';
import { numaAligned } from './numa-aligned.ts';
import { ownHold } from './own-hold.ts';
import type { Score } from './score.ts';
import { smallestLeftover } from './smallest-leftover.ts';
import { smallestNode } from './smallest-node.ts';
import { tightestNuma } from './tightest-numa.ts';
import { extraNodeTime } from './extra-node-time.ts';

/** In order of weight: a later one decides only where all before it are equal. */
export const scores: readonly Score[] = [
  ownHold,
  extraNodeTime,
  smallestLeftover,
  smallestNode,
  similarLeaseEnd,
  mostLeases,
  numaAligned,
  tightestNuma,
];
