/**
 * How long an idle connection stays open. Longer than the pause between two heartbeats and than a poll for
 * tasks, so that an agent needs one TLS handshake: it costs more than a heartbeat. Longer than a proxy keeps
 * its connections, too: otherwise it would send a request into a connection that is being closed.
 */
export const KEEP_ALIVE_MS = 75_000;
