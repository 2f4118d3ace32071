export interface Waiting {
  id: string;
  organizationId: string;
  gpus: number;
  /** In milliseconds. */
  queuedAt: number;
}

/**
 * The line for one kind of GPU. Who has waited for `protectAfterMs` goes first, oldest before younger, and cannot be
 * passed by anybody who came later. The others take turns: next is the tenant that has least, counting what it holds and
 * what stands before in line; a tenant's own launches go by age.
 */
export function orderQueue<Entry extends Waiting>(
  waiting: readonly Entry[],
  held: ReadonlyMap<string, number>,
  { now, protectAfterMs }: { now: number; protectAfterMs: number },
): Entry[] {
  const byAge = waiting.toSorted((a, b) => a.queuedAt - b.queuedAt || (a.id < b.id ? -1 : 1));
  const order = byAge.filter((entry) => isProtected(entry, now, protectAfterMs));
  const share = new Map(held);
  const count = ({ organizationId, gpus }: Entry): void => {
    share.set(organizationId, (share.get(organizationId) ?? 0) + gpus);
  };
  for (const entry of order) count(entry);
  const lines = Map.groupBy(
    byAge.filter((entry) => !isProtected(entry, now, protectAfterMs)),
    (entry) => entry.organizationId,
  );
  while (lines.size > 0) {
    const next = [...lines.values()]
      .map((line) => line[0]!)
      .reduce((first, other) => (comesBefore(other, first, share) ? other : first));
    order.push(next);
    count(next);
    const line = lines.get(next.organizationId)!;
    if (line.length === 1) lines.delete(next.organizationId);
    else line.shift();
  }
  return order;
}

export function isProtected({ queuedAt }: Waiting, now: number, protectAfterMs: number): boolean {
  return now - queuedAt >= protectAfterMs;
}

function comesBefore(a: Waiting, b: Waiting, share: ReadonlyMap<string, number>): boolean {
  const [left, right] = [share.get(a.organizationId) ?? 0, share.get(b.organizationId) ?? 0];
  if (left !== right) return left < right;
  return a.queuedAt < b.queuedAt || (a.queuedAt === b.queuedAt && a.id < b.id);
}
