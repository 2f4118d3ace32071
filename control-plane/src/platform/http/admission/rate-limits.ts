import type { FastifyReply } from 'fastify';
import type { Policies } from '../../policy/policies.ts';
import { Problem } from '../problem.ts';

export interface RateLimit {
  /** Requests that may arrive together. */
  burst: number;
  /** Further requests per second. */
  perSecond: number;
}

export interface RateLimits {
  /** Per authenticated user, service account or node. */
  caller: RateLimit;
  /** Per address, for operations that need no credentials. */
  anonymous: RateLimit;
  /** Per address, for invalid credentials. */
  failed_authentication: RateLimit;
  /** Bytes of refused bodies: per caller, or per address without one. */
  refused_bytes: RateLimit;
  /** Per caller and operation, for operations with `http.creations_per_hour` as their limit. */
  creations: RateLimit;
}

/**
 * Current values of the policies. Each process counts separately: with N replicas a caller gets at most N
 * times this.
 */
export function policyRateLimits(policies: Policies): RateLimits {
  const limit = (name: Exclude<keyof RateLimits, 'creations'>): RateLimit => ({
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
    get creations() {
      const perHour = policies.get('http.creations_per_hour');
      return { burst: perHour, perSecond: perHour / 3600 };
    },
    get refused_bytes() {
      return limit('refused_bytes');
    },
  };
}

const MAX_BUCKETS = 20_000;

interface Bucket {
  tokens: number;
  at: number;
}

/** Token buckets by key, bounded in memory: the oldest bucket is dropped first. */
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

  /** Takes one token; `retryAfterSeconds` is set if there is none. */
  take(key: string): { remaining: number; retryAfterSeconds: number | null } {
    const { perSecond } = this.#limit();
    const bucket = this.#filled(key);
    if (bucket.tokens < 1) {
      return { remaining: 0, retryAfterSeconds: Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond)) };
    }
    bucket.tokens -= 1;
    return { remaining: Math.floor(bucket.tokens), retryAfterSeconds: null };
  }

  /** Takes one token and returns the remaining ones, or throws `rate_limited`. */
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

  /** Whether the next `take` would fail. Creates no bucket for a new key. */
  isSpent(key: string): boolean {
    return this.#buckets.has(key) && this.#filled(key).tokens < 1;
  }

  /** Subtracts what was already spent, however much; the debt is at most one burst. */
  charge(key: string, tokens: number): void {
    const bucket = this.#filled(key);
    bucket.tokens = Math.max(bucket.tokens - tokens, -this.#limit().burst);
  }

  #filled(key: string): Bucket {
    const now = this.#now();
    const { burst, perSecond } = this.#limit();
    const bucket = this.#buckets.get(key) ?? this.#open(key, now, burst);
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1000) * perSecond);
    bucket.at = now;
    return bucket;
  }

  #open(key: string, now: number, burst: number): Bucket {
    if (this.#buckets.size >= MAX_BUCKETS) this.#buckets.delete(this.#buckets.keys().next().value!);
    const bucket = { tokens: burst, at: now };
    this.#buckets.set(key, bucket);
    return bucket;
  }
}
