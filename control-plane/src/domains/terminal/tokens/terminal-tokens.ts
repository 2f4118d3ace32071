import type { Tx } from '../../../platform/db/database.ts';
import type { Access } from '../access-watch.ts';

/** Where terminal tokens wait to be used: Redis where there is one, PostgreSQL otherwise. */
export interface TerminalTokens {
  /** In Redis it stands at once, in PostgreSQL with the transaction. */
  keep(tx: Tx, token: string, access: Access, ttlSeconds: number): Promise<void>;
  /** Of any number that ask for a token at once, one gets it. */
  consume(token: string): Promise<Access | null>;
}
