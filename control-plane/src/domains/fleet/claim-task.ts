import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { signCanonical } from '@gpuaas/contracts/signing';
import type { components } from '@gpuaas/contracts/generated/node-openapi.ts';
import { inScope } from '../../platform/db/scope.ts';
import type { Services } from '../../platform/services.ts';
import { TASKS_CHANNEL } from './issue-task.ts';
import { nodeScope } from './node-caller.ts';
import { emitTaskChanged } from './task-events.ts';
import { deadlineAfter } from '../../platform/clock.ts';

type SignedTask = components['schemas']['SignedTask'];

/** The next task of the node, waiting up to `waitSeconds` for one to appear. */
export async function claimTask(
  services: Services,
  nodeId: string,
  waitSeconds: number,
  signal: AbortSignal,
): Promise<SignedTask | null> {
  const deadline = deadlineAfter(waitSeconds * 1000);
  for (;;) {
    const woken = new AbortController();
    const remaining = deadline.remainingMs();
    // Listen before looking, so that a task queued in between still wakes us.
    const wake = services.listener.wait(TASKS_CHANNEL, Math.min(remaining, LOOK_AGAIN_MS), {
      payload: nodeId,
      signal: AbortSignal.any([woken.signal, signal]),
    });
    const task = await leaseNext(services, nodeId);
    if (task || remaining === 0 || signal.aborted) {
      woken.abort();
      return task;
    }
    // A lease that runs out makes no noise.
    const expiry = setTimeout(() => woken.abort(), await nextExpiryMs(services, nodeId));
    await wake;
    clearTimeout(expiry);
  }
}

/** A notification that was lost costs at most this long. */
const LOOK_AGAIN_MS = 10_000;
const NOT_SOONER_MS = 200;

/** How long until a lease of the node may run out. */
async function nextExpiryMs({ db }: Services, nodeId: string): Promise<number> {
  const row = await inScope(db, nodeScope(nodeId), (tx) =>
    tx
      .selectFrom('node_tasks')
      .select(sql<number | null>`extract(epoch from min(lease_expires_at) - now())::float8 * 1000`.as('ms'))
      .where('node_id', '=', nodeId)
      .where('state', '=', 'claimed')
      .where('expires_at', '>', sql<Date>`now()`)
      .executeTakeFirst(),
  );
  return Math.min(LOOK_AGAIN_MS, Math.max(NOT_SOONER_MS, row?.ms ?? LOOK_AGAIN_MS));
}

async function leaseNext(
  { db, keys, clock, policies }: Services,
  nodeId: string,
): Promise<SignedTask | null> {
  return await inScope(db, nodeScope(nodeId), async (tx) => {
    const row = await tx
      .selectFrom('node_tasks')
      .selectAll()
      .where('node_id', '=', nodeId)
      .where('expires_at', '>', sql<Date>`now()`)
      // A request that was waiting when its host was revoked gets nothing any more.
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
    if (!row) return null;
    const task = {
      task_id: row.id,
      kind: row.kind,
      node_id: row.node_id,
      params: row.params as Record<string, unknown>,
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
