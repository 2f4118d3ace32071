/** The command is incomplete or not understood: exit code 2, like any wrong usage. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The person cancelled: exit code 2, and nothing was done beyond what was printed. */
export class CancelledError extends Error {
  override readonly name = 'CancelledError';
}
