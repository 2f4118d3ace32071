import type { Tx } from '../../../platform/db/database.ts';
import type { MachineAccess } from '../machine-door.ts';

/** Storage of terminal tokens: Redis if configured, else PostgreSQL. */
export interface TerminalTokens {
  /** Effective immediately in Redis, with the transaction in PostgreSQL. */
  keep(tx: Tx, token: string, access: MachineAccess, ttlSeconds: number): Promise<void>;
  /** Of several concurrent calls with a token, one gets it. */
  consume(token: string): Promise<MachineAccess | null>;
}
