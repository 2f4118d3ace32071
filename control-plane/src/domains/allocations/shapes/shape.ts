import type { Tx } from '../../../platform/db/database.ts';
import type { Services } from '../../../platform/services.ts';
import type { SlotTransition } from '../../fleet/slots/transition-slots.ts';
import type { TaskOutcome } from '../../tasks/complete-task.ts';
import type { TaskWork } from '../../tasks/run-task.ts';
import type { WipeScope } from '../cleanup/decide-cleanup.ts';
import type { AllocationRow } from '../transition-allocation.ts';

/** What the host delivered. */
export interface Delivery {
  connection: object;
  bootId: string;
  startedAt: string;
}

/** A host's evidence of a cleanup. */
export interface CleanupEvidence {
  allocation: AllocationRow;
  result: TaskOutcome & { taskId: string };
}

/** Everything that depends on what an allocation is made of: slots of a host, or the whole host. */
export interface Shape {
  /** First part of the name of a machine that was given none. */
  namePrefix: string;
  /** What the claims are on: the slots, or null for the whole node. */
  claimed(slotIds: readonly string[]): (string | null)[];
  noRoom(gpus: string, largest: string | null): string;
  /** Why it gets no public port; null if it may. */
  ingressRefusal: string | null;
  /** Why it starts without user-data; null if it may have some. */
  userDataRefusal: string | null;
  /** What an operator attests when the platform cannot prove it clean. */
  attestedBy: 'slot' | 'host';
  /** Evidence is recorded in a separate transaction. */
  isRecordedAlone: boolean;

  provisionTask(services: Services, tx: Tx, allocation: AllocationRow, keys: string[]): Promise<TaskWork>;
  delivery(allocation: AllocationRow, output: unknown): Delivery;
  /** The slots that it holds become used by its machine. */
  occupy(tx: Tx, allocation: AllocationRow, health: NonNullable<SlotTransition['health']>): Promise<void>;
  moveHeld(tx: Tx, allocation: AllocationRow, move: SlotTransition): Promise<void>;
  /** Its cleanup can destroy nothing but what the lease itself created. */
  ownDataOnly: boolean;
  cleanupTask(services: Services, tx: Tx, allocation: AllocationRow, scope: WipeScope): Promise<TaskWork>;
  recordCleanups(services: Services, tx: Tx, evidence: readonly CleanupEvidence[]): Promise<void>;
  /** Opens the incidents of a cleanup that gave no proof. */
  reportBlocked(
    services: Services,
    tx: Tx,
    allocation: AllocationRow,
    tried: { attempts: number; why?: string | undefined },
  ): Promise<void>;
  /** Opens the incidents of an allocation that an operator ended without its host. */
  reportLeftBehind(services: Services, tx: Tx, allocation: AllocationRow, reason: string): Promise<void>;
}
