import { enrollNode } from '@gpuaas/control-plane/domains/fleet/identity/enroll-node';
import { enrollingNode } from '@gpuaas/control-plane/domains/fleet/identity/node-caller';
import { inScope } from '@gpuaas/control-plane/platform/db/scope';
import { x509 } from '@gpuaas/control-plane/platform/keys/x509';
import { newId } from '@gpuaas/control-plane/platform/ids';
import type { Services } from '@gpuaas/control-plane/platform/services';
import type { FakeMachine } from '@gpuaas/lab/maas/fake-machine';
import { ADMIN, type MaasServer } from '@gpuaas/lab/maas/maas-server';

/** MAAS settings of a platform process. */
export function maasEnv({ url }: Pick<MaasServer, 'url'>): Record<string, string> {
  return {
    MAAS_ENABLED: 'true',
    MAAS_URL: url,
    MAAS_API_KEY: ADMIN.apiKey,
    MAAS_NODE_URL: 'https://gpuaas.test:8443',
  };
}

/** The token in the user-data that a machine was installed with. */
export function tokenIn({ userData }: Pick<FakeMachine, 'userData'>): string {
  const token = /GPUAAS_AGENT_TOKEN='([^']+)'/.exec(userData ?? '')?.[1];
  if (token === undefined) throw new Error(`no token in ${userData}`);
  return token;
}

/** The effect of the user-data: an agent that enrols. Returns the host. */
export async function enrolMachine(services: Services, machine: FakeMachine): Promise<string> {
  const keys = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'sign',
    'verify',
  ]);
  const csr = await x509.Pkcs10CertificateRequestGenerator.create({
    name: `CN=${machine.hostname}`,
    keys,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
  });
  const { node_id } = await inScope(services.db, enrollingNode().scope, (tx) =>
    enrollNode(services, tx, {
      token: tokenIn(machine),
      csrPem: csr.toString('pem'),
      hostname: machine.hostname,
      agentVersion: '1.0.0',
      correlationId: newId(),
    }),
  );
  return node_id;
}
