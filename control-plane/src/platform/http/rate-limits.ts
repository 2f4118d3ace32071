import type { FastifyReply } from 'fastify';
import type { Policies } from '../policy/policies.ts';
import { Problem } from './problem.ts';

export interface RateLimit {
  /** How many requests may come at once. */
  burst: number;
  /** How many more per second after that. */
  perSecond: number;
}

export interface RateLimits {
  /** Per user, service or node that proved who it is. */
  caller: RateLimit;
  /** Per address, for operations that need no credentials. */
  anonymous: RateLimit;
  /** Per address, for credentials that did not hold. */
  failed_authentication: RateLimit;
}

/** As the policies say now. Each process counts for itself: with N replicas a caller gets at most N times this. */
export function policyRateLimits(policies: Policies): RateLimits {
  const limit = (name: keyof RateLimits): RateLimit => ({
    burst: policies.get(`http.${name}_burst`),
    perSecond: policies.get(`http.${name}_per_second`),
  });
  return {
    get caller() {
      return limit('caller');
    },
    get anonymous() {
      return limit('anonymous');
    },
    get failed_authentication() {
      return limit('failed_authentication');
    },
  };
}

const MAX_BUCKETS = 20_000;

interface Bucket {
  tokens: number;
  at: number;
}

/** Token buckets by key, bounded in memory: the bucket that was made first is forgotten first. */
export class RateLimiter {
  readonly #name: string;
  readonly #limit: () => RateLimit;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(name: string, limit: () => RateLimit, now: () => number = () => performance.now()) {
    this.#name = name;
    this.#limit = limit;
    this.#now = now;
  }

  /** Takes one token; `retryAfterSeconds` is set when there is none. */
  take(key: string): { remaining: number; retryAfterSeconds: number | null } {
    const now = this.#now();
    const { burst, perSecond } = this.#limit();
    const bucket = this.#buckets.get(key) ?? this.#open(key, now, burst);
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1000) * perSecond);
    bucket.at = now;
    if (bucket.tokens < 1) {
      return { remaining: 0, retryAfterSeconds: Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond)) };
    }
    bucket.tokens -= 1;
    return { remaining: Math.floor(bucket.tokens), retryAfterSeconds: null };
  }

  /** Takes one token and tells the client what is left, or throws `rate_limited`. */
  admit(key: string, reply: FastifyReply): void {
    const { remaining, retryAfterSeconds } = this.take(key);
    const { burst, perSecond } = this.#limit();
    reply.header('ratelimit-policy', `"${this.#name}";q=${burst};w=${Math.ceil(burst / perSecond)}`);
    reply.header('ratelimit', `"${this.#name}";r=${remaining};t=${retryAfterSeconds ?? 1}`);
    if (retryAfterSeconds === null) return;
    throw new Problem('rate_limited', `Slow down and try again in ${retryAfterSeconds} s.`, {
      retryAfterSeconds,
    });
  }

  #open(key: string, now: number, burst: number): Bucket {
    if (this.#buckets.size >= MAX_BUCKETS) this.#buckets.delete(this.#buckets.keys().next().value!);
    const bucket = { tokens: burst, at: now };
    this.#buckets.set(key, bucket);
    return bucket;
  }
}
