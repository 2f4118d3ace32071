import type { AgentConfig } from './config.ts';
import { createControlPlane } from './control-plane.ts';
import { createCrashPoint } from './crash-point.ts';
import { ensureFolder } from './durable-file.ts';
import { beat } from './heartbeat.ts';
import { openHost } from './host/open-host.ts';
import { ensureIdentity } from './identity/ensure-identity.ts';
import { keepIdentityFresh } from './identity/renew.ts';
import { reasonOf, type Logger } from './log.ts';
import { openSlotLeases } from './slot-leases.ts';
import { deliverOutcome } from './tasks/deliver-outcome.ts';
import { openJournal, type Journal } from './tasks/journal.ts';
import { pullTasks } from './tasks/task-loop.ts';
import { createTaskRunner } from './tasks/task-runner.ts';
import { pause } from './backoff.ts';
import { GuestStreams } from './tunnel/guest-streams.ts';
import { keepTunnel } from './tunnel/tunnel.ts';

const PRUNE_EVERY_MS = 3_600_000;

/** Runs until the signal fires. VMs go on without the agent. */
export async function runAgent(config: AgentConfig, log: Logger, stop: AbortController): Promise<void> {
  const { signal } = stop;
  await ensureFolder(config.dir);
  // VMs come back with the host, even when the platform cannot be reached.
  const host = await openHost(config, log);
  const identity = await ensureIdentity(config, log, signal);
  const controlPlane = createControlPlane(config.server, identity);
  const [leases, journal] = await Promise.all([openSlotLeases(config.dir), openJournal(config.dir)]);
  const streams = new GuestStreams();
  const runner = createTaskRunner({
    controlPlane,
    journal,
    tools: { host, leases, streams, dir: config.dir },
    crashPoint: createCrashPoint(config.dir, config.crashAt),
    log,
    signal,
  });
  log.info({ node_id: identity.node_id, boot_id: host.bootId, server: config.server.origin }, 'agent ready');

  const onExpired = (): void => {
    log.fatal('the certificate has expired and could not be renewed; enrol this host anew');
    process.exitCode = 1;
    stop.abort();
  };
  const parts = [
    beat({ host, leases, controlPlane, log }, signal),
    pullTasks({ controlPlane, runner, log, signal }),
    keepTunnel(config.server, { host, streams, identity: () => controlPlane.identity, log }, signal),
    keepIdentityFresh(identity, { ...config, controlPlane, log, signal, onExpired }),
    pruneJournal(journal, signal),
    ...journal.undelivered().map((entry) => deliverOutcome(entry, { controlPlane, journal, log, signal })),
  ];
  await Promise.all(parts.map((part) => part.catch(failLoudly)));
  controlPlane.close();

  function failLoudly(error: unknown): void {
    log.fatal({ reason: reasonOf(error) }, 'a part of the agent broke');
    process.exitCode = 1;
    stop.abort();
  }
}

async function pruneJournal(journal: Journal, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await journal.prune(new Date());
    await pause(PRUNE_EVERY_MS, signal);
  }
}
