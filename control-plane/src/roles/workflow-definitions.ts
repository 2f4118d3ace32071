import { cleanupWorkflow } from '../domains/allocations/cleanup.workflow.ts';
import { provisionWorkflow } from '../domains/allocations/provision.workflow.ts';
import { releaseWorkflow } from '../domains/allocations/release.workflow.ts';
import { convertNodeWorkflow } from '../domains/fleet/conversion/convert-node.workflow.ts';
import { onboardNodeWorkflow } from '../domains/fleet/onboarding/onboard-node.workflow.ts';
import type { Services } from '../platform/services.ts';
import type { WorkflowDefinition } from '../platform/workflows/definition.ts';

/** Everything durable that a worker runs; tests take each of their steps apart. */
export const workflowDefinitions: readonly WorkflowDefinition<Services, never>[] = [
  provisionWorkflow,
  releaseWorkflow,
  cleanupWorkflow,
  convertNodeWorkflow,
  onboardNodeWorkflow,
];
