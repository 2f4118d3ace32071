import { endsTogether } from './ends-together.ts';
import { mostLeases } from './most-leases.ts';
import { numaAligned } from './numa-aligned.ts';
import { ownPromise } from './own-promise.ts';
import type { Score } from './score.ts';
import { smallestLeftover } from './smallest-leftover.ts';
import { smallestNode } from './smallest-node.ts';
import { tightestNuma } from './tightest-numa.ts';
import { timeOpened } from './time-opened.ts';

/** In order of weight: a later one decides only where all before it are equal. */
export const scores: readonly Score[] = [
  ownPromise,
  timeOpened,
  smallestLeftover,
  smallestNode,
  endsTogether,
  mostLeases,
  numaAligned,
  tightestNuma,
];
