import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import { isConnected } from '../../fleet/health/connection.ts';
import { emitAllocation } from '../../timeline/allocation-events.ts';
import type { AllocationRow } from '../transition-allocation.ts';
import { describeReturn, describeSilence, classifyReturn, type ReturnVerdict } from './classify-return.ts';

type Running = Awaited<ReturnType<typeof runningMachines>>[number];

/**
 * Notifies tenants about their machines when a host falls silent, returns or reboots. Silence is a condition:
 * the allocation stays active, and the host's evidence decides when it is back.
 */
export async function notifyHostChanges(services: Services, tx: Tx): Promise<void> {
  for (const row of await runningMachines(tx)) {
    const silent = !isConnected(services, row.last_heartbeat_at);
    if (silent && !row.host_silent_since) await noteSilence(tx, row);
    if (!silent) await noteReturn(tx, row);
  }
}

async function runningMachines(tx: Tx) {
  return await tx
    .selectFrom('allocations as a')
    .innerJoin('nodes as n', 'n.id', 'a.node_id')
    .selectAll('a')
    .select(['n.last_heartbeat_at', 'n.boot_id', 'n.observed'])
    .where('a.state', '=', 'active')
    .orderBy('a.id')
    .forUpdate('a')
    .skipLocked()
    .execute();
}

async function noteSilence(tx: Tx, row: Running): Promise<void> {
  const since = row.last_heartbeat_at ?? row.active_at!;
  await update(tx, row, { host_silent_since: since });
  await emitAllocation(tx, 'allocation.host_silent', row, {
    stage: 'host',
    status: 'running',
    message: describeSilence(since),
  });
}

async function noteReturn(tx: Tx, row: Running): Promise<void> {
  // A heartbeat from before the machine came up proves nothing about it.
  if (row.last_heartbeat_at! <= row.active_at!) return;
  const found = (row.observed.vms ?? []).find((vm) => vm.allocation_id === row.id);
  const machine = found
    ? { startedAt: new Date(found.started_at), running: found.state === 'running' }
    : null;
  const verdict = classifyReturn({
    delivered: { bootId: row.machine_boot_id, startedAt: row.machine_started_at },
    machine,
    bootId: row.boot_id,
  });
  if (!row.host_silent_since && !isNews(row, verdict)) return;
  await update(tx, row, {
    host_silent_since: null,
    machine_trouble: troubleOf(verdict),
    ...(machine?.running ? { machine_boot_id: row.boot_id, machine_started_at: machine.startedAt } : {}),
  });
  await emitAllocation(tx, 'allocation.host_returned', row, {
    stage: 'host',
    status: troubleOf(verdict) ? 'failed' : 'done',
    message: describeReturn(verdict, row.host_silent_since),
  });
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

async function update(
  tx: Tx,
  row: Pick<AllocationRow, 'id'>,
  change: Partial<
    Pick<AllocationRow, 'host_silent_since' | 'machine_trouble' | 'machine_boot_id' | 'machine_started_at'>
  >,
): Promise<void> {
  await tx.updateTable('allocations').set(change).where('id', '=', row.id).execute();
}
