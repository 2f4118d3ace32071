import type { components } from '@gpuaas/sdk/contract';
import type { Session } from '../session.ts';
import { drawnStages } from './drawn-stages.ts';
import { toldEntries } from './told-entries.ts';

type Allocation = components['schemas']['Allocation'];

/** How a person is kept up to date while something is on its way. */
export interface ProgressView {
  show(allocation: Allocation): Promise<void>;
  end(): void;
}

/** Stages that are drawn anew in a terminal, lines in a log, nothing beside JSON. */
export function openProgressView(
  { client, json }: Pick<Session, 'client' | 'json'>,
  id: string,
  wanted: 'active' | 'released',
): ProgressView {
  if (json) return { show: async () => undefined, end: () => undefined };
  return process.stderr.isTTY ? drawnStages(client, id, wanted) : toldEntries(client, id);
}
