import {
  policies as registry,
  type PolicyName,
  type PolicyValues,
} from '@gpuaas/contracts/generated/policies.ts';
import type { PolicyDefinition, PolicyScopeName } from '@gpuaas/contracts/policies';
import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Listener } from '../db/listener.ts';
import { inScope } from '../db/scope.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Policies, PolicyScope } from './policies.ts';
import { resolvePolicy, type Resolution, type ScopedValues } from './resolve.ts';

export const POLICIES_CHANNEL = 'gpuaas_policies';

const READ_TIMEOUT_MS = 5000;
/** A lost notification costs at most this long. */
const REREAD_MS = 30_000;

type Snapshot = ReadonlyMap<string, unknown>;

/**
 * Every value that is set, in the memory of this process; read again when one changes anywhere. Only values
 * that differ from the defaults have a row, so all of them fit.
 */
export class PolicyClient implements Policies {
  readonly #db: Db;
  readonly #log: Logger;
  readonly #stopListening: () => void;
  readonly #timer: NodeJS.Timeout;
  #values: Snapshot = new Map();
  #readAt = 0;
  #reading: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  private constructor(options: PolicyClientOptions) {
    this.#db = options.db;
    this.#log = options.log;
    const reread = (): void => void this.refresh().catch((error: unknown) => this.#complain(error));
    this.#stopListening = options.listener.on(POLICIES_CHANNEL, reread);
    this.#timer = setInterval(reread, options.rereadMs ?? REREAD_MS);
    this.#timer.unref();
  }

  /** Resolves once the values are known. */
  static async open(options: PolicyClientOptions): Promise<PolicyClient> {
    const client = new PolicyClient(options);
    try {
      await client.refresh();
    } catch (error) {
      await client.close();
      throw error;
    }
    return client;
  }

  get<K extends PolicyName>(key: K, scope: PolicyScope = {}): PolicyValues[K] {
    return this.explain(key, scope).value as PolicyValues[K];
  }

  explain(key: PolicyName, scope: PolicyScope = {}, own?: { value: unknown }): Resolution {
    const definition: PolicyDefinition = registry[key];
    const set = this.#setValues(key, scope);
    return resolvePolicy(definition, own ? { ...set, [scopeName(scope)]: own.value } : set);
  }

  /**
   * One read at a time. A read that has already started may have missed a change, so the caller gets the next
   * one.
   */
  refresh(): Promise<void> {
    this.#next ??= this.#reading
      .catch(() => undefined)
      .then(() => {
        this.#next = null;
        this.#reading = this.#read();
        return this.#reading;
      });
    return this.#next;
  }

  /** Maximum age of the values. */
  ageSeconds(): number {
    return (performance.now() - this.#readAt) / 1000;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopListening();
    await Promise.allSettled([this.#next ?? this.#reading]);
  }

  #setValues(key: string, { organizationId, projectId }: PolicyScope): ScopedValues {
    const set: ScopedValues = { global: this.#values.get(addressOf(key)) };
    if (organizationId) set.tenant = this.#values.get(addressOf(key, organizationId));
    if (organizationId && projectId)
      set.project = this.#values.get(addressOf(key, organizationId, projectId));
    return set;
  }

  async #read(): Promise<void> {
    const begun = performance.now();
    const rows = await inScope(this.#db, { role: 'gpuaas_worker' }, async (tx) => {
      await sql.raw(`set local statement_timeout = ${READ_TIMEOUT_MS}`).execute(tx);
      return await tx
        .selectFrom('policy_values')
        .select(['key', 'organization_id', 'project_id', 'value'])
        .execute();
    });
    this.#values = new Map(
      rows.map((row) => [addressOf(row.key, row.organization_id, row.project_id), row.value]),
    );
    this.#readAt = begun;
  }

  #complain(error: unknown): void {
    this.#log.warn(
      { err: error, age_seconds: Math.round(this.ageSeconds()) },
      'policies could not be read again',
    );
  }
}

export interface PolicyClientOptions {
  db: Db;
  listener: Listener;
  log: Logger;
  rereadMs?: number;
}

/** The scope itself, without the scopes above it. */
export function scopeName({ organizationId, projectId }: PolicyScope): PolicyScopeName {
  if (projectId) return 'project';
  return organizationId ? 'tenant' : 'global';
}

function addressOf(key: string, organizationId?: string | null, projectId?: string | null): string {
  return `${key} ${organizationId ?? ''} ${projectId ?? ''}`;
}
