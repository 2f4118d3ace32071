import { Problem } from '../../platform/http/problem.ts';
import type { Services } from '../../platform/services.ts';

/** Audits a host that reports on a task of another host: it is broken, or its key is used to guess ids. */
export async function auditForeignTask<T>(
  { denials }: Pick<Services, 'denials'>,
  said: { nodeId: string; task_id: string; correlationId: string; ip: string },
  answer: Promise<T>,
): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Problem && error.code === 'not_found') {
      await denials.record({
        actorUserId: null,
        actorKind: 'node',
        actorRole: 'node',
        action: 'node.use_task',
        targetType: 'node',
        targetId: said.nodeId,
        result: 'denied',
        ip: said.ip,
        correlationId: said.correlationId,
        detail: { task_id: said.task_id },
      });
    }
    throw error;
  }
}
