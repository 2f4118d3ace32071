/** How long the database may keep somebody waiting. */
export interface Limits {
  /** To open a connection. */
  connectMs: number;
  /** For one statement; 0 for as long as it takes. The server ends it then, and we give up on a silent server soon after. */
  statementMs: number;
  /** For a connection of the pool to become free; 0 for as long as it takes. */
  waitMs: number;
}

export interface DatabaseLimits {
  /** Of requests: somebody waits for the answer. */
  requests: Limits;
  /** Of workflows, ticks and the relay: nobody waits, and a month is closed in one go. */
  work: Limits;
}

const CONNECT_MS = 5_000;

/** For scripts and migrations, which take as long as they take. */
export const UNLIMITED: Limits = { connectMs: 4 * CONNECT_MS, statementMs: 0, waitMs: 0 };

export function databaseLimits(
  settings: { connectMs?: number; statementMs?: number; workStatementMs?: number } = {},
): DatabaseLimits {
  const { connectMs = CONNECT_MS, statementMs = 30_000, workStatementMs = 10 * 60_000 } = settings;
  return {
    requests: { connectMs, statementMs, waitMs: statementMs },
    work: { connectMs: 4 * connectMs, statementMs: workStatementMs, waitMs: 0 },
  };
}
