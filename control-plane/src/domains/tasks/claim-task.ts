import { randomBytes } from 'node:crypto';
import { sql, type Selectable } from 'kysely';
import { signCanonical } from '@gpuaas/contracts/signing';
import { ignorableParams, isTaskKind } from '@gpuaas/contracts/tasks';
import type { components } from '@gpuaas/contracts/generated/node-openapi.ts';
import type { Tx } from '../../platform/db/database.ts';
import type { NodeTasks } from '../../platform/db/generated/schema.ts';
import { inScope, nodeScope } from '../../platform/db/scope.ts';
import { TASKS_CHANNEL } from './issue-task.ts';
import { rulesOf, type TaskServices } from './kinds.ts';
import { OPEN_TASK_STATES } from './states.ts';
import { emitTaskChanged } from './task-events.ts';
import { deadlineAfter } from '../../platform/clock.ts';

type SignedTask = components['schemas']['SignedTask'];

/** The next task of the node; waits up to `waitSeconds` for one to appear. */
export async function claimTask(
  services: TaskServices,
  nodeId: string,
  waitSeconds: number,
  signal: AbortSignal,
  certificateSerial: string | null = null,
): Promise<SignedTask | null> {
  const deadline = deadlineAfter(waitSeconds * 1000);
  for (;;) {
    const woken = new AbortController();
    // Listen before the query, so that a task queued in between still wakes us. A lost notification costs one
    // poll: the agent asks again, and every request queries.
    const wake = services.listener.wait(TASKS_CHANNEL, deadline.remainingMs(), {
      payload: nodeId,
      signal: AbortSignal.any([woken.signal, signal]),
    });
    const found = await leaseNext(services, nodeId, certificateSerial);
    if (found.kind === 'leased') {
      woken.abort();
      return found.signed;
    }
    // An expired lease sends no notification.
    const { expiryMs } = found;
    const expiry =
      expiryMs === null ? undefined : setTimeout(() => woken.abort(), Math.max(NOT_SOONER_MS, expiryMs));
    await wake;
    clearTimeout(expiry);
    if (signal.aborted || deadline.remainingMs() === 0) return null;
  }
}

const NOT_SOONER_MS = 200;
/** When another process has locked the only free task. */
const BUSY_MS = 1000;

/** Leases the oldest free task, or returns the time until another lease may expire. */
async function leaseNext(
  services: TaskServices,
  nodeId: string,
  certificateSerial: string | null,
): Promise<{ kind: 'leased'; signed: SignedTask } | { kind: 'none'; expiryMs: number | null }> {
  const { db, keys, clock, policies } = services;
  return await inScope(db, nodeScope(nodeId), async (tx) => {
    const open = await tx
      .selectFrom('node_tasks')
      .select([
        sql<boolean | null>`bool_or(state = 'queued' or lease_expires_at < now())`.as('some_free'),
        sql<number | null>`extract(epoch from min(lease_expires_at) - now())::float8 * 1000`.as('expiry_ms'),
      ])
      .where('node_id', '=', nodeId)
      .where('state', 'in', OPEN_TASK_STATES)
      .where('expires_at', '>', sql<Date>`now()`)
      .executeTakeFirstOrThrow();
    if (!open.some_free) return { kind: 'none', expiryMs: open.expiry_ms };
    const row = await tx
      .selectFrom('node_tasks')
      .selectAll()
      .where('node_id', '=', nodeId)
      .where('expires_at', '>', sql<Date>`now()`)
      // The host or its certificate was revoked while the request waited: it gets no task.
      .where((e) =>
        e.not(
          e.exists(
            e
              .selectFrom('nodes')
              .select('nodes.id')
              .where('nodes.id', '=', nodeId)
              .where('identity_revoked_at', 'is not', null),
          ),
        ),
      )
      .where((e) =>
        e.not(
          e.exists(
            e
              .selectFrom('node_certificates')
              .select('serial_number')
              .where('serial_number', '=', certificateSerial)
              .where('revoked_at', 'is not', null),
          ),
        ),
      )
      .where((e) =>
        e.or([
          e('state', '=', 'queued'),
          e.and([e('state', '=', 'claimed'), e('lease_expires_at', '<', sql<Date>`now()`)]),
        ]),
      )
      .orderBy('created_at')
      .limit(1)
      .forUpdate()
      .skipLocked()
      .executeTakeFirst();
    if (!row) return { kind: 'none', expiryMs: BUSY_MS };
    const params = { ...row.params, ...(await openSecrets(services, tx, row)) };
    const ignorable = isTaskKind(row.kind) ? ignorableParams(row.kind, params) : [];
    const task = {
      task_id: row.id,
      kind: row.kind,
      node_id: row.node_id,
      params,
      ...(ignorable.length > 0 ? { ignorable } : {}),
      nonce: randomBytes(16).toString('base64url'),
      epoch: row.epoch + 1,
      issued_at: clock.now().toISOString(),
      expires_at: row.expires_at.toISOString(),
      correlation_id: row.correlation_id,
    };
    const signature = signCanonical(task, keys.signing.privateKey);
    await tx
      .updateTable('node_tasks')
      .set({
        state: 'claimed',
        epoch: task.epoch,
        nonce: task.nonce,
        signature,
        claimed_at: sql`now()`,
        lease_expires_at: sql`now() + make_interval(secs => ${policies.get('fleet.task_lease_seconds')})`,
      })
      .where('id', '=', row.id)
      .execute();
    await emitTaskChanged(tx, { ...row, state: 'claimed' });
    return { kind: 'leased', signed: { task, signature } };
  });
}

/** Secret parameters that are not stored with the task; they are signed with the rest. */
async function openSecrets(
  { taskSinks, sealer }: TaskServices,
  tx: Tx,
  task: Selectable<NodeTasks>,
): Promise<Record<string, unknown>> {
  const { secrets } = rulesOf(task.kind);
  return secrets ? await taskSinks.secrets[secrets](sealer, tx, task.subject_id) : {};
}
