import { pause } from './backoff.ts';
import type { AgentConfig } from './config.ts';
import { createControlPlane } from './control-plane.ts';
import { createCrashPoint, type CrashPoint } from './crash-point.ts';
import { ensureFolder } from './durable-file.ts';
import { beat } from './heartbeat.ts';
import { openHost } from './host/open-host.ts';
import { ensureIdentity } from './identity/ensure-identity.ts';
import { createIdentityKeeper } from './identity/keep-identity.ts';
import { reasonOf, type Logger } from './log.ts';
import { createPlatformClock, type PlatformClock } from './platform-clock.ts';
import { openHostLease } from './host-lease.ts';
import { openSlotLeases } from './slot-leases.ts';
import { deliverOutcome } from './tasks/deliver-outcome.ts';
import { openJournal, type Journal } from './tasks/journal.ts';
import { openRefusals } from './tasks/refusals.ts';
import { pullTasks } from './tasks/task-loop.ts';
import { createTaskRunner } from './tasks/task-runner.ts';
import { WorkUnderWay } from './tasks/work-under-way.ts';
import { GuestStreams } from './tunnel/guest-streams.ts';
import { keepTunnel } from './tunnel/tunnel.ts';

const PRUNE_EVERY_MS = 3_600_000;

export interface AgentRun {
  config: AgentConfig;
  log: Logger;
  stop: AbortController;
  /** Ends this agent as kill -9 would: nothing is finished, nothing is told. */
  die: () => void;
}

/** Runs until the signal fires; throws when a part breaks. VMs go on without the agent. */
export async function runAgent({ config, log, stop, die }: AgentRun): Promise<void> {
  const { signal } = stop;
  await ensureFolder(config.dir);
  // VMs come back with the host, even when the platform cannot be reached.
  const { host, link, localTime, atStage, watch } = await openHost(config, log, die);
  const clock = createPlatformClock(localTime);
  const identity = await ensureIdentity(config, log, signal);
  const keeper = createIdentityKeeper({ config, clock, log });
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
    openRefusals(config.dir),
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
    tools: { host, leases, hostLease, streams, underWay: new WorkUnderWay(), dir: config.dir },
    crashPoint,
    log,
    signal,
  });
  log.info({ node_id: identity.node_id, boot_id: host.bootId, server: config.server.origin }, 'agent ready');

  const tunnel = { host, streams, identity: () => controlPlane.identity, now: clock.now, log };
  const parts = [
    beat({ host, leases, hostLease, controlPlane, clock, keeper, log }, signal),
    pullTasks({ controlPlane, runner, log, signal }),
    keepTunnel(config.server, tunnel, link, signal),
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
        log.fatal({ reason: reasonOf(error) }, 'a part of the agent broke');
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
    // By this host's clock alone a replay could be forgotten too early.
    if (clock.offsetMs() !== null) await journal.prune(clock.now());
    await pause(clock.offsetMs() === null ? 60_000 : PRUNE_EVERY_MS, signal);
  }
}
