import { MaasClient, type MaasConnection } from './maas-client.ts';

/** How machines are made ready by MAAS. */
export interface Deployment {
  /** Node port of the platform as a deployed machine reaches it. */
  nodeUrl: string;
  /** What is installed; MAAS's default when null. */
  distroSeries: string | null;
  /** Shell script that puts `gpuaas-node-agent` on a deployed machine's path; null when the image brings it. */
  agentSetup: string | null;
  /** Custom commissioning scripts to run; all of them when null. */
  commissioningScripts: readonly string[] | null;
  /** Hardware tests to run; those that MAAS prefers when null. */
  testingScripts: readonly string[] | null;
}

export interface MaasSettings extends MaasConnection {
  deployment: Deployment;
}

/** MAAS, where an installation has it. Opening it asks nothing yet. */
export interface Maas {
  client: MaasClient;
  deployment: Deployment;
}

export function openMaas({ deployment, ...connection }: MaasSettings): Maas {
  return { client: new MaasClient(connection), deployment };
}
