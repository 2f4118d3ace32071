import type { Score } from './score.ts';

export const ownHold: Score = {
  name: 'own_promise',
  reason: 'the node that is kept for who asks, while it is kept',
  of: ({ now, holders = [] }, { promises = [] }) =>
    promises.some(({ holder, from, until }) => holders.includes(holder) && from <= now && now < until)
      ? 0
      : 1,
};
