/** The seconds of a lease in which something used it: from the first (inclusive) to the last (exclusive). */
export interface LeaseUse {
  id: string;
  from: bigint;
  to: bigint;
}

interface Change {
  users: bigint;
  /** Of those, how many come before the one whose share is computed. */
  earlier: bigint;
}

/**
 * The part of a lease's cost that one use bears: the cost of each second is divided equally among the uses in it. What
 * cannot be divided goes to the first of them, so that the shares add up to the cost of the seconds that were used.
 */
export function shareOfLease(
  costOfFirst: (seconds: bigint) => bigint,
  uses: readonly LeaseUse[],
  own: LeaseUse,
): bigint {
  let share = 0n;
  let [users, earlier, since] = [0n, 0n, own.from];
  for (const [second, change] of changesWithin(uses, own)) {
    const cost = costOfFirst(second) - costOfFirst(since);
    if (users > 0n) share += cost / users + (earlier < cost % users ? 1n : 0n);
    users += change.users;
    earlier += change.earlier;
    since = second;
  }
  return share;
}

/** Where the number of users changes while `own` lasts, in order of time. */
function changesWithin(uses: readonly LeaseUse[], own: LeaseUse): [bigint, Change][] {
  const changes = new Map<bigint, Change>();
  const add = (second: bigint, users: bigint, isEarlier: boolean): void => {
    const change = changes.get(second) ?? { users: 0n, earlier: 0n };
    changes.set(second, {
      users: change.users + users,
      earlier: change.earlier + (isEarlier ? users : 0n),
    });
  };
  for (const use of uses) {
    const from = use.from > own.from ? use.from : own.from;
    const to = use.to < own.to ? use.to : own.to;
    if (from >= to) continue;
    add(from, 1n, use.id < own.id);
    add(to, -1n, use.id < own.id);
  }
  return [...changes].toSorted(([a], [b]) => (a < b ? -1 : 1));
}
