/** The oldest PostgreSQL that the migrations and queries are written for. */
const OLDEST_MAJOR = 15;

export class UnsupportedServerError extends Error {
  override readonly name = 'UnsupportedServerError';
  readonly code = 'unsupported_server_version';
}

/** Refuses a server by its `server_version_num`, such as 150013 for 15.13. */
export function requireSupportedServer(versionNumber: number): void {
  const major = Math.floor(versionNumber / 10_000);
  if (major >= OLDEST_MAJOR) return;
  const version = major >= 10 ? `${major}.${versionNumber % 10_000}` : String(versionNumber);
  throw new UnsupportedServerError(
    `The database server is PostgreSQL ${version}; the platform needs ${OLDEST_MAJOR} or newer. ` +
      'Upgrade it, or leave DATABASE_URL empty to use the embedded one.',
  );
}
