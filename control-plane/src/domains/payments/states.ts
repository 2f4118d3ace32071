import type { components } from '@gpuaas/contracts/generated/openapi.ts';

export type PaymentState = components['schemas']['PaymentState'];
export type RefundState = components['schemas']['Refund']['state'];

/** Open states, in order; all others are final. The database enforces the same. */
const ON_ITS_WAY: readonly PaymentState[] = ['created', 'open', 'processing'];
const REFUNDS: readonly RefundState[] = ['requested', 'pending', 'succeeded', 'failed'];

export function isFinalState(state: PaymentState): boolean {
  return !ON_ITS_WAY.includes(state);
}

/** Whether a report moves a payment forward; an older report does not move it back. */
export function isForwardTransition(from: PaymentState, to: PaymentState): boolean {
  if (isFinalState(from)) return false;
  return isFinalState(to) || ON_ITS_WAY.indexOf(to) > ON_ITS_WAY.indexOf(from);
}

export function isForwardRefundTransition(from: RefundState, to: RefundState): boolean {
  return REFUNDS.indexOf(to) > REFUNDS.indexOf(from);
}
