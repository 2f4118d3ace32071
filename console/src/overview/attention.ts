import type { Allocation, IdleLease, ProjectIncident, Spend } from '../api/types.ts';
import { formatMoney } from '../format/money.ts';
import { formatDuration } from '../format/time.ts';
import type { Tone } from '../ui/tone.ts';

export interface Attention {
  key: string;
  tone: Extract<Tone, 'danger' | 'warn' | 'info'>;
  title: string;
  detail: string;
  /** The allocation it is about; the balance when there is none. */
  allocationId: string | null;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ENDS_SOON_MS = HOUR_MS;

/** What a person should know before anything else, the worst first. */
export function attentionOf(
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
  if (standing === 'stopped')
    return [{ ...of, tone: 'danger', title: 'Leases were stopped: the balance is used up' }];
  // The standing is looked at now and then; what is there is known at once.
  if (standing === 'exhausted' || available.micros <= 0)
    return [{ ...of, tone: 'danger', title: 'The balance is used up' }];
  return standing === 'low' ? [{ ...of, tone: 'warn', title: 'The balance is low' }] : [];
}

function ofIncident(
  { id, title, severity, state, allocation_ids: touched }: ProjectIncident,
  allocations: Allocation[],
): Attention {
  const names = allocations.filter((one) => touched.includes(one.id)).map(({ name }) => name);
  const whom = state === 'acknowledged' ? 'An operator works on it.' : 'Operators have been told.';
  return {
    key: `incident ${id}`,
    tone: severity === 'minor' ? 'warn' : 'danger',
    title,
    detail: `${names.length > 0 ? `Touches ${names.join(', ')}. ` : ''}${whom}`,
    allocationId: touched[0]!,
  };
}

function ofAllocation(allocation: Allocation, now: number): Attention[] {
  const { id, name, state, failure, queue, ends_at: endsAt, created_at: createdAt } = allocation;
  const of = { key: id, allocationId: id };
  if (state === 'release_failed')
    return [{ ...of, tone: 'danger', title: `${name} could not be released`, detail: why(failure) }];
  if (state === 'failed' && now - Date.parse(createdAt) < DAY_MS)
    return [{ ...of, tone: 'danger', title: `${name} did not come up`, detail: why(failure) }];
  if (state === 'queued' && queue)
    return [{ ...of, tone: 'info', title: `${name} waits in line`, detail: queue.detail }];
  if (state === 'active' && allocation.states.observed !== 'running')
    return [
      {
        ...of,
        tone: 'warn',
        title: `${name} is not seen running`,
        detail: 'Its host does not vouch for it now. What is not served is not billed.',
      },
    ];
  const left = endsAt ? Date.parse(endsAt) - now : Infinity;
  if (state === 'active' && left < ENDS_SOON_MS)
    return [
      {
        ...of,
        tone: 'warn',
        title: `${name} ends in ${formatDuration(left)}`,
        detail: 'It is wiped and released then, unless you extend it.',
      },
    ];
  return [];
}

/** Leases of the project that cost money and do nothing. */
export function attentionToIdle(idle: readonly IdleLease[], projectId: string): Attention[] {
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
  return failure?.detail ?? 'Its page says how far it came.';
}
