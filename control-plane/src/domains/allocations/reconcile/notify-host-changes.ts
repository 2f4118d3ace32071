import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import { isConnected } from '../../fleet/health/connection.ts';
import { emitAllocation } from '../../timeline/allocation-events.ts';
import type { AllocationRow } from '../transition-allocation.ts';
import { describeReturn, describeSilence, classifyReturn, type ReturnVerdict } from './classify-return.ts';

type Running = Awaited<ReturnType<ReturnType<typeof runningMachines>['execute']>>[number];

interface HostChange {
  change: Partial<
    Pick<AllocationRow, 'host_silent_since' | 'machine_trouble' | 'machine_boot_id' | 'machine_started_at'>
  >;
  event: 'allocation.host_silent' | 'allocation.host_returned';
  status: 'running' | 'done' | 'failed';
  message: string;
}

/**
 * Notifies tenants about their machines when a host falls silent, returns or reboots. Silence is a condition:
 * the allocation stays active, and the host's evidence decides when it is back. Only allocations with a change are
 * locked, and decided again under the lock.
 */
export async function notifyHostChanges(services: Services, tx: Tx): Promise<void> {
  const seen = await runningMachines(tx).execute();
  const changed = seen.filter((row) => changeOf(services, row)).map(({ id }) => id);
  if (changed.length === 0) return;
  const locked = await runningMachines(tx).where('a.id', 'in', changed).forUpdate('a').skipLocked().execute();
  for (const row of locked) {
    const found = changeOf(services, row);
    if (!found) continue;
    const { change, event, status, message } = found;
    await tx.updateTable('allocations').set(change).where('id', '=', row.id).execute();
    await emitAllocation(tx, event, row, { stage: 'host', status, message });
  }
}

function runningMachines(tx: Tx) {
  return tx
    .selectFrom('allocations as a')
    .innerJoin('nodes as n', 'n.id', 'a.node_id')
    .selectAll('a')
    .select(['n.last_heartbeat_at', 'n.boot_id', 'n.observed'])
    .where('a.state', '=', 'active')
    .orderBy('a.id');
}

function changeOf(services: Services, row: Running): HostChange | null {
  if (isConnected(services, row.last_heartbeat_at)) return returnOf(row);
  return row.host_silent_since ? null : silenceOf(row);
}

function silenceOf(row: Running): HostChange {
  const since = row.last_heartbeat_at ?? row.active_at!;
  return {
    change: { host_silent_since: since },
    event: 'allocation.host_silent',
    status: 'running',
    message: describeSilence(since),
  };
}

function returnOf(row: Running): HostChange | null {
  // A heartbeat from before the machine came up proves nothing about it.
  if (row.last_heartbeat_at! <= row.active_at!) return null;
  const found = (row.observed.vms ?? []).find((vm) => vm.allocation_id === row.id);
  const machine = found
    ? { startedAt: new Date(found.started_at), running: found.state === 'running' }
    : null;
  const verdict = classifyReturn({
    delivered: { bootId: row.machine_boot_id, startedAt: row.machine_started_at },
    machine,
    bootId: row.boot_id,
  });
  if (!row.host_silent_since && !isNews(row, verdict)) return null;
  return {
    change: {
      host_silent_since: null,
      machine_trouble: troubleOf(verdict),
      ...(machine?.running ? { machine_boot_id: row.boot_id, machine_started_at: machine.startedAt } : {}),
    },
    event: 'allocation.host_returned',
    status: troubleOf(verdict) ? 'failed' : 'done',
    message: describeReturn(verdict, row.host_silent_since),
  };
}

/** Of a host that was never silent: the machine is another run than the one delivered, or runs no longer, or again. */
function isNews(row: Running, verdict: ReturnVerdict): boolean {
  if (verdict === 'restarted') return true;
  const trouble = troubleOf(verdict);
  // A machine that has just come up may not be in the host's latest report yet; the recording code knows how
  // long that may last.
  return trouble !== row.machine_trouble && (trouble === null || row.observed_state === 'absent');
}

function troubleOf(verdict: ReturnVerdict): 'stopped' | 'lost' | null {
  return verdict === 'stopped' || verdict === 'lost' ? verdict : null;
}
