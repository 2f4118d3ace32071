import { checkedFetch } from '../outbound/checked-fetch.ts';

/**
 * Reaches a provider that an operator chose, over a new connection each time. Providers are called rarely: one kept
 * since the last call may just have been closed by the other side, and a code cannot be exchanged twice.
 */
export const freshFetch = checkedFetch(() => ({ allowPrivateTargets: true }));
