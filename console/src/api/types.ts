import type { components, paths } from '@gpuaas/sdk/contract';

type Schemas = components['schemas'];

export type Me = Schemas['Me'];
export type Organization = Me['organizations'][number];
export type Project = Organization['projects'][number];
export type Money = Schemas['Money'];
export type Sku = Schemas['Sku'];
export type Image = Schemas['Image'];
export type Region =
  paths['/api/v1/regions']['get']['responses'][200]['content']['application/json']['items'][number];
export type Allocation = Schemas['Allocation'];
export type AllocationState = Schemas['AllocationState'];
export type CreateAllocation = Schemas['CreateAllocation'];
export type FourStates = Schemas['FourStates'];
export type TimelineEntry = Schemas['TimelineEntry'];
export type Stage = TimelineEntry['stage'];
export type Connection = Schemas['Connection'];
export type WipeCertificate = Schemas['WipeCertificate'];
export type Node = Schemas['Node'];
export type Posture = Schemas['Posture'];
export type LabFault = Schemas['LabFault'];
export type NodeReadiness = Schemas['NodeReadiness'];
export type NodeDisk = Schemas['NodeDisk'];
export type TopologyDrift = Schemas['TopologyDrift'];
export type BurnIn = Schemas['BurnIn'];
export type MaintenanceWindow = Schemas['MaintenanceWindow'];
export type NodeTask = Schemas['NodeTask'];
export type ResourceSlot = Schemas['ResourceSlot'];
export type SlotState = Schemas['SlotState'];
export type CandidateSlot = Schemas['CandidateSlot'];
export type TopologyDiscovery =
  paths['/api/v1/admin/nodes/{node_id}/slice-topology/discovery']['get']['responses'][200]['content']['application/json'];
export type WipePolicy =
  paths['/api/v1/admin/nodes/{node_id}/resource-slots/approve']['post']['requestBody']['content']['application/json']['destructive_wipe_policy'];
