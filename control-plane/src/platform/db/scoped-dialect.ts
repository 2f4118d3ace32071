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
 * Postgres whose every transaction begins with `opening`, in the same round trip. A statement outside a
 * transaction gets one of its own, so that nothing ever runs without it.
 */
export class ScopedDialect extends PostgresDialect {
  readonly #pool: pg.Pool;
  readonly #opening: string;

  constructor(pool: pg.Pool, opening: string) {
    super({ pool });
    this.#pool = pool;
    this.#opening = opening;
  }

  override createDriver(): Driver {
    return new ScopedDriver(this.#pool, this.#opening);
  }

  override createAdapter(): PostgresAdapter {
    return new PostgresAdapter();
  }
}

class ScopedDriver implements Driver {
  readonly #postgres: PostgresDriver;
  readonly #opening: string;

  constructor(pool: pg.Pool, opening: string) {
    this.#postgres = new PostgresDriver({ pool });
    this.#opening = opening;
  }

  init(): Promise<void> {
    return this.#postgres.init();
  }

  async acquireConnection(): Promise<ScopedConnection> {
    const connection = (await this.#postgres.acquireConnection()) as PostgresConnection;
    return new ScopedConnection(this.#postgres, connection, this.#opening);
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
    return this.#postgres.releaseConnection(connection.postgres);
  }

  /** The pool belongs to the database, which outlives its scopes. */
  async destroy(): Promise<void> {}
}

type PostgresConnection = Parameters<PostgresDriver['releaseConnection']>[0];

class ScopedConnection implements DatabaseConnection {
  readonly postgres: PostgresConnection;
  readonly #driver: PostgresDriver;
  readonly #opening: string;
  #inTransaction = false;

  constructor(driver: PostgresDriver, postgres: PostgresConnection, opening: string) {
    this.#driver = driver;
    this.postgres = postgres;
    this.#opening = opening;
  }

  async begin(): Promise<void> {
    try {
      await this.postgres.executeQuery(CompiledQuery.raw(this.#opening));
    } catch (error) {
      // `begin` may have worked although what follows it did not.
      await this.#driver.rollbackTransaction(this.postgres);
      throw error;
    }
    this.#inTransaction = true;
  }

  async commit(): Promise<void> {
    await this.#driver.commitTransaction(this.postgres);
    this.#inTransaction = false;
  }

  async rollback(): Promise<void> {
    this.#inTransaction = false;
    await this.#driver.rollbackTransaction(this.postgres);
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#inTransaction) return await this.postgres.executeQuery<R>(query);
    await this.begin();
    try {
      const result = await this.postgres.executeQuery<R>(query);
      await this.commit();
      return result;
    } catch (error) {
      await this.rollback();
      throw error;
    }
  }

  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('streaming is not supported');
  }
}
