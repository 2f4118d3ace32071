import type { components } from '@gpuaas/contracts/generated/openapi.ts';

export type PaymentState = components['schemas']['PaymentState'];
export type RefundState = components['schemas']['Refund']['state'];

/** On its way, in this order; everything else is over. The database holds the same. */
const ON_ITS_WAY: readonly PaymentState[] = ['created', 'open', 'processing'];
const REFUNDS: readonly RefundState[] = ['requested', 'pending', 'succeeded', 'failed'];

export function isOver(state: PaymentState): boolean {
  return !ON_ITS_WAY.includes(state);
}

/** Whether news of a payment moves it on; older news does not move it back. */
export function movesOn(from: PaymentState, to: PaymentState): boolean {
  if (isOver(from)) return false;
  return isOver(to) || ON_ITS_WAY.indexOf(to) > ON_ITS_WAY.indexOf(from);
}

export function refundMovesOn(from: RefundState, to: RefundState): boolean {
  return REFUNDS.indexOf(to) > REFUNDS.indexOf(from);
}
