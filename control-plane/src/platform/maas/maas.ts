import { MaasClient, type MaasConnection } from './maas-client.ts';

/** How MAAS prepares machines. */
export interface Deployment {
  /** Node port of the platform as a deployed machine reaches it. */
  nodeUrl: string;
  /** Release to deploy; MAAS's default when null. */
  distroSeries: string | null;
  /** Shell script that puts `gpuaas-node-agent` on a deployed machine's path; null when the image brings it. */
  agentSetup: string | null;
  /** Custom commissioning scripts to run; all of them when null. */
  commissioningScripts: readonly string[] | null;
  /** Hardware tests to run; MAAS's own choice when null. */
  testingScripts: readonly string[] | null;
}

export interface MaasSettings extends MaasConnection {
  deployment: Deployment;
}

/** MAAS, if the installation has one. Opening it sends no request. */
export interface Maas {
  client: MaasClient;
  deployment: Deployment;
}

export function openMaas({ deployment, ...connection }: MaasSettings): Maas {
  return { client: new MaasClient(connection), deployment };
}
