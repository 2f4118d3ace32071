import { sleep } from './backoff.ts';
import type { AgentConfig } from './config.ts';
import { createControlPlane } from './control-plane.ts';
import { createCrashPoint, type CrashPoint } from './crash-point.ts';
import { ensureFolder } from './durable-file.ts';
import { sendHeartbeats } from './heartbeat.ts';
import { openHost } from './host/open-host.ts';
import { ensureIdentity } from './identity/ensure-identity.ts';
import { createIdentityRenewer } from './identity/identity-renewer.ts';
import { errorMessage, type Logger } from './logger.ts';
import { createPlatformClock, type PlatformClock } from './platform-clock.ts';
import { openHostLease } from './host-lease.ts';
import { openSlotLeases } from './slot-leases.ts';
import { deliverOutcome } from './tasks/deliver-outcome.ts';
import { openJournal, type Journal } from './tasks/journal.ts';
import { openRefusalLog } from './tasks/refusals.ts';
import { pullTasks } from './tasks/task-loop.ts';
import { createTaskRunner } from './tasks/task-runner.ts';
import { ActiveWork } from './tasks/active-work.ts';
import { GuestStreams } from './tunnel/guest-streams.ts';
import { maintainTunnels } from './tunnel/tunnel.ts';

const PRUNE_EVERY_MS = 3_600_000;

export interface AgentRun {
  config: AgentConfig;
  log: Logger;
  stop: AbortController;
  /** Ends this agent as kill -9 would: no work finishes and nothing is reported. */
  die: () => void;
}

/** Runs until the signal fires; throws when a part breaks. VMs keep running without the agent. */
export async function runAgent({ config, log, stop, die }: AgentRun): Promise<void> {
  const { signal } = stop;
  await ensureFolder(config.dir);
  // VMs come back with the host, even when the platform is unreachable.
  const { host, link, localTime, atStage, watch } = await openHost(config, log, die);
  const clock = createPlatformClock(localTime);
  const identity = await ensureIdentity(config, log, signal);
  const keeper = createIdentityRenewer({ config, clock, log });
  const controlPlane = createControlPlane({
    server: config.server,
    identity,
    clock,
    link,
    onCall: keeper.noteCall,
  });
  const hostLease = await openHostLease(config.dir);
  const [leases, journal, refusals] = await Promise.all([
    openSlotLeases(config.dir),
    openJournal(config.dir),
    openRefusalLog(config.dir),
  ]);
  const streams = new GuestStreams();
  const pulledPlug = createCrashPoint(config.dir, config.crashAt, die);
  const crashPoint: CrashPoint = (kind, point) => {
    pulledPlug(kind, point);
    atStage();
  };
  const runner = createTaskRunner({
    controlPlane,
    journal,
    refusals,
    clock,
    tools: { host, leases, hostLease, streams, underWay: new ActiveWork(), dir: config.dir },
    crashPoint,
    log,
    signal,
  });
  log.info({ node_id: identity.node_id, boot_id: host.bootId, server: config.server.origin }, 'agent ready');

  const tunnel = { host, streams, identity: () => controlPlane.identity, now: clock.now, log };
  const parts = [
    sendHeartbeats({ host, leases, hostLease, controlPlane, clock, keeper, log }, signal),
    pullTasks({ controlPlane, runner, log, signal }),
    maintainTunnels(config.server, tunnel, link, signal),
    keeper.keep(controlPlane, signal),
    refusals.deliver(controlPlane, log, signal),
    pruneJournal(journal, clock, signal),
    watch(signal),
    ...journal
      .undelivered()
      .map((entry) => deliverOutcome(entry, { controlPlane, journal, crashPoint, log, signal })),
  ];
  let broken: unknown = null;
  await Promise.all(
    parts.map((part) =>
      part.catch((error: unknown) => {
        log.fatal({ reason: errorMessage(error) }, 'a part of the agent broke');
        broken ??= error;
        stop.abort();
      }),
    ),
  );
  controlPlane.close();
  if (broken !== null) throw broken;
}

async function pruneJournal(journal: Journal, clock: PlatformClock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // With only this host's clock, a replay could be forgotten too early.
    if (clock.offsetMs() !== null) await journal.prune(clock.now());
    await sleep(clock.offsetMs() === null ? 60_000 : PRUNE_EVERY_MS, signal);
  }
}
