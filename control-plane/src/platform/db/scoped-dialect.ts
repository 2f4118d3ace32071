import {
  CompiledQuery,
  PostgresAdapter,
  PostgresDialect,
  PostgresDriver,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
} from 'kysely';
import type pg from 'pg';

/**
 * Postgres dialect that starts every transaction with `opening`, in the same round trip. A statement outside
 * a transaction runs on a connection of `alone`, which is in the same scope, or else gets its own
 * transaction: nothing ever runs without the scope.
 */
export class ScopedDialect extends PostgresDialect {
  readonly #pool: pg.Pool;
  readonly #opening: string;
  readonly #alone: pg.Pool | null;

  constructor(pool: pg.Pool, opening: string, alone: pg.Pool | null) {
    super({ pool });
    this.#pool = pool;
    this.#opening = opening;
    this.#alone = alone;
  }

  override createDriver(): Driver {
    return new ScopedDriver(this.#pool, this.#opening, this.#alone);
  }

  override createAdapter(): PostgresAdapter {
    return new PostgresAdapter();
  }
}

class ScopedDriver implements Driver {
  readonly #postgres: PostgresDriver;
  readonly #alone: PostgresDriver | null;
  readonly #opening: string;

  constructor(pool: pg.Pool, opening: string, alone: pg.Pool | null) {
    this.#postgres = new PostgresDriver({ pool });
    this.#alone = alone && new PostgresDriver({ pool: alone });
    this.#opening = opening;
  }

  async init(): Promise<void> {
    await this.#postgres.init();
    await this.#alone?.init();
  }

  /** The first call decides the pool. */
  acquireConnection(): Promise<ScopedConnection> {
    return Promise.resolve(new ScopedConnection(this.#postgres, this.#alone, this.#opening));
  }

  beginTransaction(connection: ScopedConnection): Promise<void> {
    return connection.begin();
  }

  commitTransaction(connection: ScopedConnection): Promise<void> {
    return connection.commit();
  }

  rollbackTransaction(connection: ScopedConnection): Promise<void> {
    return connection.rollback();
  }

  releaseConnection(connection: ScopedConnection): Promise<void> {
    return connection.release();
  }

  /** The pools belong to the database, which outlives its scopes. */
  async destroy(): Promise<void> {}
}

type PostgresConnection = Parameters<PostgresDriver['releaseConnection']>[0];

class ScopedConnection implements DatabaseConnection {
  readonly #driver: PostgresDriver;
  readonly #alone: PostgresDriver | null;
  readonly #opening: string;
  /** Of the transaction. */
  #postgres: PostgresConnection | null = null;

  constructor(driver: PostgresDriver, alone: PostgresDriver | null, opening: string) {
    this.#driver = driver;
    this.#alone = alone;
    this.#opening = opening;
  }

  async begin(): Promise<void> {
    const postgres = (await this.#driver.acquireConnection()) as PostgresConnection;
    try {
      await postgres.executeQuery(CompiledQuery.raw(this.#opening));
    } catch (error) {
      // `begin` may have worked although the rest failed.
      await this.#driver
        .rollbackTransaction(postgres)
        .finally(() => this.#driver.releaseConnection(postgres));
      throw error;
    }
    this.#postgres = postgres;
  }

  async commit(): Promise<void> {
    await this.#driver.commitTransaction(this.#begun());
  }

  async rollback(): Promise<void> {
    await this.#driver.rollbackTransaction(this.#begun());
  }

  async release(): Promise<void> {
    if (this.#postgres) await this.#driver.releaseConnection(this.#postgres);
    this.#postgres = null;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#postgres) return await this.#postgres.executeQuery<R>(query);
    return this.#alone ? await this.#runAlone(this.#alone, query) : await this.#runInOwnTransaction(query);
  }

  async #runAlone<R>(alone: PostgresDriver, query: CompiledQuery): Promise<QueryResult<R>> {
    const postgres = (await alone.acquireConnection()) as PostgresConnection;
    try {
      return await postgres.executeQuery<R>(query);
    } finally {
      await alone.releaseConnection(postgres);
    }
  }

  async #runInOwnTransaction<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    await this.begin();
    try {
      const result = await this.#begun().executeQuery<R>(query);
      await this.commit();
      return result;
    } catch (error) {
      await this.rollback();
      throw error;
    } finally {
      await this.release();
    }
  }

  #begun(): PostgresConnection {
    if (!this.#postgres) throw new Error('there is no transaction');
    return this.#postgres;
  }

  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('streaming is not supported');
  }
}
