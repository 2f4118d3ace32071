import type { Adapter, AdapterPayload } from 'oidc-provider';
import { systemClock } from '../../clock.ts';

type Entry = { payload: AdapterPayload; expiresAt: number };

const MAX_ENTRIES = 10_000;

/** Development only: sign-ins, codes and refresh tokens end with the process, the oldest first when full. */
export function createMemoryAdapter(): (model: string) => Adapter {
  const entries = new Map<string, Entry>();

  const live = (key: string): AdapterPayload | undefined => {
    const entry = entries.get(key);
    if (entry && entry.expiresAt > systemClock.now().getTime()) return entry.payload;
    entries.delete(key);
    return undefined;
  };

  const makeRoom = (): void => {
    for (const key of entries.keys()) {
      if (entries.size < MAX_ENTRIES) return;
      entries.delete(key);
    }
  };

  const findBy = (model: string, field: 'uid' | 'userCode', value: string): AdapterPayload | undefined => {
    for (const [key, { payload }] of entries) {
      if (key.startsWith(`${model}:`) && payload[field] === value) return live(key);
    }
    return undefined;
  };

  return (model) => ({
    async upsert(id, payload, expiresIn) {
      const key = `${model}:${id}`;
      // Deleted first so that a renewed entry counts as the youngest.
      entries.delete(key);
      makeRoom();
      entries.set(key, {
        payload,
        expiresAt: expiresIn ? systemClock.now().getTime() + expiresIn * 1000 : Infinity,
      });
    },
    async find(id) {
      return live(`${model}:${id}`);
    },
    async findByUid(uid) {
      return findBy(model, 'uid', uid);
    },
    async findByUserCode(userCode) {
      return findBy(model, 'userCode', userCode);
    },
    async consume(id) {
      const payload = live(`${model}:${id}`);
      if (payload) payload.consumed = Math.floor(systemClock.now().getTime() / 1000);
    },
    async destroy(id) {
      entries.delete(`${model}:${id}`);
    },
    async revokeByGrantId(grantId) {
      for (const [key, { payload }] of entries) {
        if (payload.grantId === grantId) entries.delete(key);
      }
    },
  });
}
