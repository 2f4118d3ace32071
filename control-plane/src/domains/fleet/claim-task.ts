import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { signCanonical } from '@gpuaas/contracts/signing';
import type { components } from '@gpuaas/contracts/generated/node-openapi.ts';
import { inScope } from '../../platform/db/scope.ts';
import type { Services } from '../../platform/services.ts';
import { TASKS_CHANNEL } from './issue-task.ts';
import { nodeScope } from './node-caller.ts';
import { secretParams } from './secret-params.ts';
import { emitTaskChanged } from './task-events.ts';
import { deadlineAfter } from '../../platform/clock.ts';

type SignedTask = components['schemas']['SignedTask'];

/** The next task of the node, waiting up to `waitSeconds` for one to appear. */
export async function claimTask(
  services: Services,
  nodeId: string,
  waitSeconds: number,
  signal: AbortSignal,
  certificateSerial: string | null = null,
): Promise<SignedTask | null> {
  const deadline = deadlineAfter(waitSeconds * 1000);
  for (;;) {
    const woken = new AbortController();
    // Listen before looking, so that a task queued in between still wakes us. A notification that was lost costs
    // one poll: the agent asks again, and asking looks.
    const wake = services.listener.wait(TASKS_CHANNEL, deadline.remainingMs(), {
      payload: nodeId,
      signal: AbortSignal.any([woken.signal, signal]),
    });
    const found = await leaseNext(services, nodeId, certificateSerial);
    if ('task' in found) {
      woken.abort();
      return found;
    }
    // A lease that runs out makes no noise.
    const { expiryMs } = found;
    const expiry =
      expiryMs === null ? undefined : setTimeout(() => woken.abort(), Math.max(NOT_SOONER_MS, expiryMs));
    await wake;
    clearTimeout(expiry);
    if (signal.aborted || deadline.remainingMs() === 0) return null;
  }
}

const NOT_SOONER_MS = 200;
/** When somebody else holds the row of the only free task. */
const BUSY_MS = 1000;

/** Leases the oldest task that is free, or says how long until a lease of another may run out. */
async function leaseNext(
  { db, keys, clock, policies, sealer }: Services,
  nodeId: string,
  certificateSerial: string | null,
): Promise<SignedTask | { expiryMs: number | null }> {
  return await inScope(db, nodeScope(nodeId), async (tx) => {
    const open = await tx
      .selectFrom('node_tasks')
      .select([
        sql<boolean | null>`bool_or(state = 'queued' or lease_expires_at < now())`.as('some_free'),
        sql<number | null>`extract(epoch from min(lease_expires_at) - now())::float8 * 1000`.as('expiry_ms'),
      ])
      .where('node_id', '=', nodeId)
      .where('state', 'in', ['queued', 'claimed'])
      .where('expires_at', '>', sql<Date>`now()`)
      .executeTakeFirstOrThrow();
    if (!open.some_free) return { expiryMs: open.expiry_ms };
    const row = await tx
      .selectFrom('node_tasks')
      .selectAll()
      .where('node_id', '=', nodeId)
      .where('expires_at', '>', sql<Date>`now()`)
      // A request that was waiting when its host or its certificate was revoked gets nothing any more.
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
    if (!row) return { expiryMs: BUSY_MS };
    const task = {
      task_id: row.id,
      kind: row.kind,
      node_id: row.node_id,
      params: { ...(row.params as Record<string, unknown>), ...(await secretParams(sealer, tx, row)) },
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
    return { task, signature };
  });
}
