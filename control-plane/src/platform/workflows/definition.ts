import { DBOS, type StepConfig } from '@dbos-inc/dbos-sdk';
import { crashPoint } from './crash-point.ts';

/** A durable function: it survives the death of its process and continues after its last finished step. */
export interface WorkflowDefinition<Services, Input> {
  name: string;
  run(services: Services, input: Input): Promise<void>;
}

const RETRY: StepConfig = { retriesAllowed: true, maxAttempts: 8, intervalSeconds: 0.5, backoffRate: 2 };

/**
 * A checkpointed step. It may run again when the process dies between its effect and its checkpoint, so its
 * effect must be idempotent.
 */
export async function step<T>(name: string, effect: () => Promise<T>): Promise<T> {
  return await DBOS.runStep(
    async () => {
      crashPoint(`${name}:before`);
      const result = await effect();
      crashPoint(`${name}:after`);
      return result;
    },
    { ...RETRY, name },
  );
}

/** Waits for a signal that another process sends in its own transaction; null when the deadline passes. */
export async function waitForSignal<T>(topic: string, timeoutSeconds: number): Promise<T | null> {
  return await DBOS.recv<T>(topic, { timeoutSeconds });
}

/** Waits until another workflow has ended, however it ended. */
export async function waitForWorkflow(workflowId: string): Promise<void> {
  await DBOS.getResult(workflowId).catch(() => undefined);
}
