import { recordAudit } from '../../platform/audit/record.ts';
import { Problem } from '../../platform/http/problem.ts';
import type { Services } from '../../platform/services.ts';

/** A host that speaks of a task it does not have is written down: it is broken, or somebody tries ids with its key. */
export async function auditForeignTask<T>(
  { db }: Pick<Services, 'db'>,
  said: { nodeId: string; task_id: string; correlationId: string },
  answer: Promise<T>,
): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Problem && error.code === 'not_found') {
      await recordAudit(db, {
        actorUserId: null,
        actorKind: 'node',
        actorRole: 'node',
        action: 'node.use_task',
        targetType: 'node',
        targetId: said.nodeId,
        result: 'denied',
        correlationId: said.correlationId,
        detail: { task_id: said.task_id },
      });
    }
    throw error;
  }
}
