import type { Money } from '../../platform/money.ts';

export type HolderType = 'project' | 'user';
export type Measure = 'allocations' | 'gpus' | 'spend_per_hour' | 'app_instances';

/** A counted and limited quantity. */
export interface Counter {
  organizationId: string;
  holderType: HolderType;
  holderId: string;
  measure: Measure;
  /** The GPU model, or the currency of an amount in micro-units; empty for allocations and app instances. */
  unit: string;
}

/** What a launch holds until its claims end. */
export interface Charge {
  organizationId: string;
  projectId: string;
  /** The user or service account that launches. */
  launchedBy: string;
  /** The responsible person: the launching user, or the owner of the service account; null if there is none. */
  ownerUserId: string | null;
  gpuModel: string;
  gpus: number;
  perHour: Money;
}

export interface CounterIncrement {
  counter: Counter;
  amount: bigint;
}

/** The counters that a launch changes, and by how much. */
export function incrementsFor(charge: Charge): CounterIncrement[] {
  const { organizationId, projectId, launchedBy, ownerUserId, gpuModel, gpus, perHour } = charge;
  const holders = [
    { holderType: 'project' as const, holderId: projectId },
    { holderType: 'user' as const, holderId: launchedBy },
    ...(ownerUserId === null || ownerUserId === launchedBy
      ? []
      : [{ holderType: 'user' as const, holderId: ownerUserId }]),
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
