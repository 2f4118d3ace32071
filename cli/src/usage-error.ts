/** What was asked cannot be understood or completed: exit code 2, like any wrong usage. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The person left: exit code 2, and nothing more was done than was said. */
export class CancelledError extends Error {
  override readonly name = 'CancelledError';
}
