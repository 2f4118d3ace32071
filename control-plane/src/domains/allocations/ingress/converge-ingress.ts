import { sql } from 'kysely';
import { parseTaskOutput } from '@gpuaas/contracts/tasks';
import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';
import { isOpenTask } from '../../tasks/states.ts';
import { openIncident, resolveIncident } from '../../incidents/open-incident.ts';
import { liveClaims } from '../claims.ts';
import { lockAllocation } from '../transition-allocation.ts';
import { requestIngressUpdate } from './request-ingress-update.ts';
import { expandAddressPool } from './choose-public-address.ts';
import type { IngressRow } from './describe-ingress.ts';
import { publicAddressPool } from './public-address-pool.ts';

const BATCH = 100;
/** Opens an incident after this many failures; the host is still retried. */
const FAILURES_TO_TELL = 3;
const LONGEST_PAUSE_MS = 300_000;

/** Converges public ingress: reads the results of hosts, and retries. */
export const convergeIngress: Tick<Services> = {
  name: 'allocations.converge_ingress',
  everySeconds: 2,
  catchUp: 'skip',
  run: async (services) => {
    await withdrawUnoffered(services);
    const { rows } = await sql<{ allocation_id: string }>`
      select distinct i.allocation_id from public_ingresses i join allocations a on a.id = i.allocation_id
      where i.state in ('attaching', 'detaching') or (i.state = 'attached' and a.state <> 'active')
      order by 1 limit ${BATCH}`.execute(services.db);
    for (const { allocation_id: id } of rows)
      await services.db.transaction().execute((tx) => convergeOne(services, tx, id));
  },
};

async function convergeOne(services: Services, tx: Tx, allocationId: string): Promise<void> {
  const allocation = await lockAllocation(tx, allocationId);
  // The release removes all forwardings from the host with proof; until then the port stays taken.
  if (allocation.state !== 'active') {
    if ((await liveClaims(tx, allocationId)) === 0) await endAll(services, tx, allocationId);
    return;
  }
  const rows = await tx
    .selectFrom('public_ingresses as i')
    .leftJoin('node_tasks as t', 't.id', 'i.task_id')
    .selectAll('i')
    .select(['t.state as task_state', 't.output', 't.error', 't.finished_at', 't.expires_at'])
    .where('i.allocation_id', '=', allocationId)
    .where('i.state', 'in', ['attaching', 'detaching'])
    .execute();
  let asks = false;
  for (const row of rows) asks = (await settle(services, tx, row)) === 'ask' || asks;
  if (asks) await requestIngressUpdate(services, tx, allocation);
}

type Asked = IngressRow & {
  task_state: string | null;
  output: unknown;
  error: { detail: string } | null;
  finished_at: Date | null;
  expires_at: Date | null;
};

/** `ask`: the host needs a task, for the first time or again. */
async function settle(services: Services, tx: Tx, row: Asked): Promise<'ask' | 'settled' | 'wait'> {
  const now = services.clock.now();
  if (row.task_state === null) return 'ask';
  if (row.task_state === 'succeeded') {
    const { rules } = parseTaskOutput('slice.ingress_set', row.output);
    const leads = rules.some(
      (rule) =>
        rule.public_address === row.public_address &&
        rule.protocol === row.protocol &&
        rule.public_port === row.public_port &&
        rule.machine_port === row.machine_port,
    );
    if (leads !== (row.state === 'attaching'))
      return await noteFailure(services, tx, row, { words: 'The rules on the host are not as asked.' });
    const change =
      row.state === 'attaching'
        ? ({ state: 'attached', attached_at: now } as const)
        : ({ state: 'detached', detached_at: now } as const);
    await tx
      .updateTable('public_ingresses')
      .set({ ...change, failures: 0, failure: null })
      .where('id', '=', row.id)
      .execute();
    const incident = { type: 'ingress_not_applied', targetId: row.id } as const;
    await resolveIncident(tx, now, incident, 'The host followed.');
    return 'settled';
  }
  const isOpen = isOpenTask(row.task_state);
  if (isOpen && row.expires_at! > now) return 'wait';
  const detail = row.error?.detail;
  const words =
    row.task_state === 'failed' ? 'The host could not set the rules.' : 'The host did not answer in time.';
  return await noteFailure(services, tx, row, { words, ...(detail ? { detail } : {}) });
}

/**
 * The pause before the next attempt doubles, counted from the end of the last one. The tenant gets a message
 * without host details; operators get the host's error.
 */
async function noteFailure(
  services: Services,
  tx: Tx,
  row: Asked,
  { words, detail = words }: { words: string; detail?: string },
): Promise<'ask' | 'wait'> {
  const now = services.clock.now();
  const pauseMs = Math.min(1000 * 2 ** row.failures, LONGEST_PAUSE_MS);
  const endedAt = row.finished_at ?? row.expires_at ?? now;
  if (endedAt.getTime() + pauseMs > now.getTime()) return 'wait';
  const failures = row.failures + 1;
  await tx
    .updateTable('public_ingresses')
    .set({ failures, failure: words })
    .where('id', '=', row.id)
    .execute();
  if (failures >= FAILURES_TO_TELL)
    await openIncident(tx, now, {
      type: 'ingress_not_applied',
      targetType: 'ingress',
      targetId: row.id,
      summary: `${row.protocol} ${row.public_address}:${row.public_port} is ${row.state} and its host does not follow: ${detail}`,
      detail: { node_id: row.node_id, allocation_id: row.allocation_id, failures },
    });
  return 'ask';
}

async function endAll(services: Services, tx: Tx, allocationId: string): Promise<void> {
  await tx
    .updateTable('public_ingresses')
    .set({ state: 'detached', detached_at: services.clock.now(), failure: null })
    .where('allocation_id', '=', allocationId)
    .where('state', '!=', 'detached')
    .execute();
}

/** Removes ingress that no policy offers. */
async function withdrawUnoffered({ db, policies }: Services): Promise<void> {
  const rows = await db
    .selectFrom('public_ingresses')
    .select(['id', 'organization_id', 'project_id', 'public_address'])
    .where('state', 'in', ['attaching', 'attached'])
    .execute();
  const unoffered = rows.filter(
    ({ organization_id: organizationId, project_id: projectId, public_address }) => {
      const pool = publicAddressPool(policies, { organizationId, projectId });
      return !expandAddressPool(pool).includes(public_address);
    },
  );
  if (unoffered.length === 0) return;
  await db
    .updateTable('public_ingresses')
    .set({ state: 'detaching', task_id: null, failures: 0, failure: null })
    .where(
      'id',
      'in',
      unoffered.map(({ id }) => id),
    )
    .where('state', 'in', ['attaching', 'attached'])
    .execute();
}
