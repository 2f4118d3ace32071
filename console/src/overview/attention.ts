import type { Allocation, IdleLease, ProjectIncident, Spend } from '../api/types.ts';
import { formatMoney } from '../format/money.ts';
import { formatDuration } from '../format/format-time.ts';
import type { Tone } from '../ui/values/tone.ts';

export interface Attention {
  key: string;
  tone: Extract<Tone, 'danger' | 'warn' | 'info'>;
  title: string;
  detail: string;
  /** The allocation concerned; null for the balance. */
  allocationId: string | null;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ENDS_SOON_MS = HOUR_MS;

/** The most important notices for a person, the worst first. */
export function attentionItems(
  allocations: Allocation[],
  incidents: ProjectIncident[],
  spend: Spend[],
  now: number,
): Attention[] {
  const found = [
    ...spend.flatMap(ofMoney),
    ...incidents.map((incident) => ofIncident(incident, allocations)),
    ...allocations.flatMap((allocation) => ofAllocation(allocation, now)),
  ];
  const order = { danger: 0, warn: 1, info: 2 };
  return found.toSorted((a, b) => order[a.tone] - order[b.tone]);
}

function ofMoney({ standing, at_zero: detail, balance, available }: Spend): Attention[] {
  const of = { key: `balance ${balance.currency}`, detail, allocationId: null };
  if (standing === 'stopped') return [{ ...of, tone: 'danger', title: 'Leases stopped: balance used up' }];
  // The standing is updated periodically; the available balance is current.
  if (standing === 'exhausted' || available.micros <= 0)
    return [{ ...of, tone: 'danger', title: 'Balance used up' }];
  return standing === 'low' ? [{ ...of, tone: 'warn', title: 'Balance is low' }] : [];
}

function ofIncident(
  { id, title, severity, state, allocation_ids: touched }: ProjectIncident,
  allocations: Allocation[],
): Attention {
  const names = allocations.filter((one) => touched.includes(one.id)).map(({ name }) => name);
  const whom = state === 'acknowledged' ? 'An operator is working on it.' : 'Operators have been notified.';
  return {
    key: `incident ${id}`,
    tone: severity === 'minor' ? 'warn' : 'danger',
    title,
    detail: `${names.length > 0 ? `Affects ${names.join(', ')}. ` : ''}${whom}`,
    allocationId: touched[0]!,
  };
}

function ofAllocation(allocation: Allocation, now: number): Attention[] {
  const { id, name, state, failure, queue, ends_at: endsAt, created_at: createdAt } = allocation;
  const of = { key: id, allocationId: id };
  if (state === 'release_failed')
    return [{ ...of, tone: 'danger', title: `${name} could not be released`, detail: why(failure) }];
  if (state === 'failed' && now - Date.parse(createdAt) < DAY_MS)
    return [{ ...of, tone: 'danger', title: `${name} failed to launch`, detail: why(failure) }];
  if (state === 'queued' && queue)
    return [{ ...of, tone: 'info', title: `${name} is queued`, detail: queue.detail }];
  if (state === 'active' && allocation.states.observed !== 'running')
    return [
      {
        ...of,
        tone: 'warn',
        title: `${name} is not confirmed running`,
        detail: 'Its host does not confirm it. You are not billed for unconfirmed time.',
      },
    ];
  const left = endsAt ? Date.parse(endsAt) - now : Infinity;
  if (state === 'active' && left < ENDS_SOON_MS)
    return [
      {
        ...of,
        tone: 'warn',
        title: `${name} ends in ${formatDuration(left)}`,
        detail: 'It will be wiped and released unless you extend it.',
      },
    ];
  return [];
}

/** Leases of the project that cost money while idle. */
export function idleLeaseItems(idle: readonly IdleLease[], projectId: string): Attention[] {
  return idle
    .filter((lease) => lease.project_id === projectId && lease.idle_since !== null)
    .map(({ allocation_id: id, name, idle_since: since, per_hour: perHour }) => ({
      key: `idle ${id}`,
      tone: 'info',
      title: `${name} is idle`,
      detail: `Its GPUs have done nothing since ${since!.slice(0, 16).replace('T', ' ')} UTC, at ${formatMoney(perHour)} an hour.`,
      allocationId: id,
    }));
}

function why(failure: Allocation['failure']): string {
  return failure?.detail ?? 'See its page for details.';
}
