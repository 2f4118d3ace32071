/**
 * Types of columns that the schema cannot say (see `scripts/stored-columns.ts`). Only our own code writes these columns,
 * so their contents are as typed here.
 */
import type { ColumnType } from 'kysely';
import type { components as nodeComponents } from '@gpuaas/contracts/generated/node-openapi.ts';
import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { SlotBundle } from '@gpuaas/contracts/tasks';
import type { LoggedEvent } from '../events/event-log.ts';
import type { Json } from './generated/schema.ts';

export type { IncidentType } from '@gpuaas/contracts/generated/incidents.ts';
export type { NotificationKind } from '@gpuaas/contracts/generated/notifications.ts';
export type { PermissionGroup } from '@gpuaas/contracts/generated/permissions.ts';
export type { AppReason } from '@gpuaas/contracts/generated/reasons.ts';

type Schemas = components['schemas'];
type NodeSchemas = nodeComponents['schemas'];

/** JSON is written as text or as a value, and read parsed. */
type Stored<T> = ColumnType<T, Json, Json>;

/** Read models hold what the events said. */
export type ProjectedState = ColumnType<Schemas['AllocationState'], string, string>;
export type Posture = Schemas['Posture'];
export type SlotState = Schemas['SlotState'];

/** A tenant's machine, as its host reported it. */
export interface ObservedVm {
  allocation_id: string;
  state: 'running' | 'stopped';
  started_at: string;
  network?: NodeSchemas['NetworkLease'];
}

/** The last heartbeat of a host. */
export interface ObservedNode {
  agent_time?: string;
  leases?: { slot_id: string; allocation_id: string }[];
  host_lease?: string | null;
  vms?: ObservedVm[];
  gpus?: NodeSchemas['ObservedGpu'][];
  disks?: NodeSchemas['ObservedDisk'][];
  clock_offset_ms?: number | null;
}

export type ReadinessChecks = Schemas['AdminImage']['readiness_checks'];
export type StoredEvent = Stored<LoggedEvent>;
export type StoredObserved = Stored<ObservedNode>;
export type StoredConnection = Stored<Omit<Schemas['Connection'], 'ssh_command' | 'private_ip'>>;
export type StoredFailure = Stored<{ code: string; detail: string }>;
export type StoredFields = Stored<Record<string, unknown>>;
export type StoredSlotMetadata = Stored<
  Pick<Schemas['ResourceSlot']['capacity_metadata'], 'fabric_claim_mode' | 'destructive_wipe_policy'>
>;
export type StoredSlotBundle = Stored<SlotBundle>;
export type StoredWipeStatement = Stored<Schemas['WipeStatement']>;
export type StoredWipeTools = Stored<Schemas['WipeTool'][]>;
export type StoredPolicyValue = Stored<Schemas['PolicyValue']>;
export type StoredPosting = Stored<{ corrects_entry_id?: string }>;
export type StoredPaymentHint = Stored<{ paymentId?: string; checkoutRef?: string; paymentRef?: string }>;

/** Evidence that nothing of a member is left: what was observed, or the proof of the machine's wipe. */
export type Teardown =
  | { proof: 'never_started' }
  | { proof: 'observed'; processes: 0; ports: []; files: false; forced: boolean; observed_at: string }
  | { proof: 'wiped'; certificate_ids: string[] };
export type AppEventType = Schemas['AppEventType'];
export type StoredTeardown = Stored<Teardown>;
export type StoredAppEnv = Stored<Schemas['AppEnv'][]>;
export type StoredAppGate = Stored<Schemas['AppGate']>;
export type StoredAppValues = Stored<Schemas['AppParameterValue'][]>;
export type StoredAppCompatibility = Stored<Schemas['AppCompatibility']>;
export type StoredAppParameters = Stored<Schemas['AppParameter'][]>;
export type StoredAppRuntime = Stored<Schemas['AppRuntimeProfile']>;
