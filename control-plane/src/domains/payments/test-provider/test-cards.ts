import type { components } from '@gpuaas/contracts/generated/openapi.ts';

export type TestCard = components['schemas']['TestCard'];

interface CardRules {
  whatHappens: string;
  /** Declined when someone pays with it, and when it is charged later. */
  now: { code: string; detail: string } | null;
  later: { code: string; detail: string } | null;
}

const declined = { code: 'card_declined', detail: 'The card was declined.' };
const poor = { code: 'insufficient_funds', detail: 'The card has insufficient funds.' };

export const testCards: Record<TestCard, CardRules> = {
  accepted: { whatHappens: 'The payment succeeds, now and later.', now: null, later: null },
  declined: {
    whatHappens: 'The card is declined; the payment stays open for another one.',
    now: declined,
    later: declined,
  },
  insufficient_funds: {
    whatHappens: 'The card has too little money; the payment stays open for another one.',
    now: poor,
    later: poor,
  },
  declined_later: {
    whatHappens: 'The payment succeeds; when the card is kept and charged again, it is declined.',
    now: null,
    later: declined,
  },
};
