/**
 * How long an idle connection stays open. Longer than the pause between two heartbeats and than a poll for tasks, so
 * that an agent shakes hands once: proving both sides costs more than all that a heartbeat has to say. And longer
 * than a proxy keeps its own, which would else send a request into a connection that is being closed.
 */
export const KEEP_ALIVE_MS = 75_000;
