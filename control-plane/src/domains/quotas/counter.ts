import type { Money } from '../../platform/money.ts';

export type HolderType = 'project' | 'user';
export type Measure = 'allocations' | 'gpus' | 'spend_per_hour';

/** One thing that is counted and limited. */
export interface Counter {
  organizationId: string;
  holderType: HolderType;
  holderId: string;
  measure: Measure;
  /** The GPU model, or the currency of an amount in micro-units; empty for allocations. */
  unit: string;
}

/** What a launch will hold until its claims end. */
export interface Charge {
  organizationId: string;
  projectId: string;
  /** The user or service account that launches. */
  launchedBy: string;
  gpuModel: string;
  gpus: number;
  perHour: Money;
}

export interface Ask {
  counter: Counter;
  amount: bigint;
}

/** The counters a launch moves, and by how much. */
export function asksOf(charge: Charge): Ask[] {
  const { organizationId, projectId, launchedBy, gpuModel, gpus, perHour } = charge;
  const holders = [
    { holderType: 'project' as const, holderId: projectId },
    { holderType: 'user' as const, holderId: launchedBy },
  ];
  const amounts = [
    { measure: 'allocations' as const, unit: '', amount: 1n },
    { measure: 'gpus' as const, unit: gpuModel, amount: BigInt(gpus) },
    { measure: 'spend_per_hour' as const, unit: perHour.currency, amount: perHour.micros },
  ];
  return holders.flatMap((holder) =>
    amounts.map(({ measure, unit, amount }) => ({
      counter: { organizationId, ...holder, measure, unit },
      amount,
    })),
  );
}

export function counterKey({ organizationId, holderType, holderId, measure, unit }: Counter): string {
  return `${organizationId} ${holderType} ${holderId} ${measure} ${unit}`;
}
