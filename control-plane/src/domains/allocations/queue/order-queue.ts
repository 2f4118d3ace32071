import { first, get } from '../../../platform/present.ts';

export interface QueueEntry {
  id: string;
  organizationId: string;
  gpus: number;
  /** In milliseconds. */
  queuedAt: number;
}

/**
 * Orders the queue for one kind of GPU. A launch that has waited for `protectAfterMs` goes first, oldest
 * before younger, and no later launch can pass it. The others take turns: next is the tenant that has least,
 * counting the GPUs it holds and its launches placed before; a tenant's own launches go by age.
 */
export function orderQueue<Entry extends QueueEntry>(
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
      .map((line) => first(line, 'launch of the line'))
      .reduce((best, other) => (comesBefore(other, best, share) ? other : best));
    order.push(next);
    count(next);
    const line = get(lines, next.organizationId, 'line of tenant');
    if (line.length === 1) lines.delete(next.organizationId);
    else line.shift();
  }
  return order;
}

export function isProtected({ queuedAt }: QueueEntry, now: number, protectAfterMs: number): boolean {
  return now - queuedAt >= protectAfterMs;
}

function comesBefore(a: QueueEntry, b: QueueEntry, share: ReadonlyMap<string, number>): boolean {
  const [left, right] = [share.get(a.organizationId) ?? 0, share.get(b.organizationId) ?? 0];
  if (left !== right) return left < right;
  return a.queuedAt < b.queuedAt || (a.queuedAt === b.queuedAt && a.id < b.id);
}
