/** How long a frozen process may keep locks of the engine's tables. */
const IDLE_IN_TRANSACTION_MS = 60_000;

/**
 * The database URL for the workflow engine's own connections. It contains their timeout: a separate query for
 * it would be queued ahead of the first borrower's, which the driver is about to forbid.
 */
export function systemDatabaseUrl(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  const setting = `-c idle_in_transaction_session_timeout=${IDLE_IN_TRANSACTION_MS}`;
  const options = [url.searchParams.get('options'), setting].filter(Boolean).join(' ');
  url.searchParams.set('options', options);
  return url.toString();
}
