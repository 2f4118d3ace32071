import { Problem } from '../../platform/http/problem.ts';
import { formatMoney } from '../../platform/money.ts';
import type { Counter } from './counter.ts';
import type { QuotaExcess } from './check-charges.ts';

/** `quota_exceeded`: the limits, the usage and the requested amounts. */
export function quotaExceeded(exceeded: readonly QuotaExcess[]): Problem {
  return new Problem('quota_exceeded', exceeded.map(sentence).join(' '), {
    extensions: { exceeded: exceeded.map(describeExcess) },
  });
}

export function describeExcess({ counter, limit, used, asked, setBy }: QuotaExcess) {
  const { holderType, holderId, measure, unit } = counter;
  return {
    holder: { type: holderType, id: holderId },
    measure,
    unit: unit === '' ? null : unit,
    limit: Number(limit),
    used: Number(used),
    asked: Number(asked),
    limit_set_by: setBy,
  };
}

function sentence({ counter, limit, used, asked }: QuotaExcess): string {
  const amount = (value: bigint): string => words(counter, value);
  const whose = counter.holderType === 'project' ? 'The project' : 'The user';
  return `${whose} has a quota of ${amount(limit)} and uses ${amount(used)}; ${amount(asked)} more requested.`;
}

function words({ measure, unit }: Counter, value: bigint): string {
  if (measure === 'allocations') return value === 1n ? '1 allocation' : `${value} allocations`;
  if (measure === 'app_instances') return value === 1n ? '1 app instance' : `${value} app instances`;
  if (measure === 'gpus') return `${value} × ${unit}`;
  return `${formatMoney({ currency: unit, micros: value })} per hour`;
}
