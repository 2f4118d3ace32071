/** Only workers that enter guests take from it. */
export const APP_RUNTIME_QUEUE = 'app-runtime';

export const START_WORKFLOW = { name: 'app_instance.start', queue: APP_RUNTIME_QUEUE } as const;
export const STOP_WORKFLOW = { name: 'app_instance.stop', queue: APP_RUNTIME_QUEUE } as const;

/** Input of both. */
export interface InstanceInput {
  instanceId: string;
  correlationId: string;
}

/** An instance starts once and ends once. */
export function startWorkflowId(instanceId: string): string {
  return `app-start:${instanceId}`;
}

export function stopWorkflowId(instanceId: string): string {
  return `app-stop:${instanceId}`;
}
