const CALLS = new Set(['read', 'write', 'shutdown', 'connect']);
const BROKEN = new Set([
  'ECONNRESET',
  'ECONNABORTED',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTCONN',
  'EPIPE',
  'EPROTO',
  'ETIMEDOUT',
]);
/** What the other side of TLS, HTTP, HTTP/2 or a WebSocket said against the protocol. */
const SPOKE_WRONG = /^(?:ERR_SSL_|ERR_HTTP2_(?:STREAM|SESSION)_ERROR$|HPE_|WS_ERR_)/;

/**
 * True for the end of one connection: it was reset, timed out, or the other side broke the protocol. Such an error says
 * nothing about the process, so a process goes on even where nobody was there to handle it.
 */
export function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return false;
  if (SPOKE_WRONG.test(error.code)) return true;
  return BROKEN.has(error.code) && 'syscall' in error && CALLS.has(String(error.syscall));
}
