import type { AllocationRow } from './transition-allocation.ts';

type ExecutionState = AllocationRow['execution_state'];
type Resting = Extract<ExecutionState, 'idle' | 'queued' | 'waiting_for_cleanup'>;

interface Execution {
  execution_state: ExecutionState;
  execution_workflow_id: string | null;
}

/** No workflow works on the allocation. */
export function atRest(state: Resting = 'idle'): Execution {
  return { execution_state: state, execution_workflow_id: null };
}

/** This workflow works on the allocation, and no other may act on it until it rests. */
export function executedBy(workflowId: string, state: Exclude<ExecutionState, Resting>): Execution {
  return { execution_state: state, execution_workflow_id: workflowId };
}

/** False once another workflow took over, or an operator ended the allocation. The row must be locked. */
export function isExecutedBy(
  { execution_workflow_id }: Pick<AllocationRow, 'execution_workflow_id'>,
  workflowId: string,
): boolean {
  return execution_workflow_id === workflowId;
}
