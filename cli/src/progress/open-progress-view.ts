import type { components } from '@gpuaas/sdk/contract';
import type { Session } from '../session.ts';
import { liveStepsView } from './live-steps.ts';
import { printedStepsView } from './printed-steps.ts';

type Allocation = components['schemas']['Allocation'];

/** Progress display while an operation runs. */
export interface ProgressView {
  show(allocation: Allocation): Promise<void>;
  end(): void;
}

/** Steps that are redrawn in a terminal, lines in a log, nothing beside JSON. */
export function openProgressView(
  { client, json }: Pick<Session, 'client' | 'json'>,
  id: string,
  wanted: 'active' | 'released',
): ProgressView {
  if (json) return { show: async () => undefined, end: () => undefined };
  return (process.stderr.isTTY ? liveStepsView : printedStepsView)(client, id, wanted);
}
