import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, type Caller } from '../../../platform/auth/caller.ts';
import type { Handlers } from '../../../platform/http/operation.ts';
import type { FleetServices } from '../needs.ts';
import { callMaas } from './call-maas.ts';
import { cancelOnboarding } from './cancel-onboarding.ts';
import { getOnboarding, listOnboardings } from './list-onboardings.ts';
import { importMachine } from './import-machine.ts';
import { listMachines } from './list-machines.ts';

type MaasOperations = Pick<
  operations,
  | 'listMaasMachines'
  | 'importMaasMachine'
  | 'listNodeOnboardings'
  | 'getNodeOnboarding'
  | 'cancelNodeOnboarding'
>;

/** Machines of MAAS, and how they become hosts. */
export function maasRoutes(services: FleetServices): Handlers<MaasOperations, Caller> {
  return {
    async listMaasMachines({ caller, query, read }) {
      authorize(caller, 'fleet.read', atPlatform);
      const machines = await callMaas(services, (client) => client.machines());
      return { status: 200, body: await read((tx) => listMachines(tx, machines, query)) };
    },
    async importMaasMachine({ caller, params, body, correlationId, audit, mutate }) {
      audit({ targetType: 'maas_machine', targetId: params.system_id, detail: { ...body } });
      // MAAS may take its time, and no transaction waits for it; who may not import does not get that far.
      const machine = await deferred(() => {
        authorize(caller, 'fleet.enrol', atPlatform);
        return callMaas(services, (client) => client.machine(params.system_id));
      });
      return await mutate(async (tx) => {
        authorize(caller, 'fleet.enrol', atPlatform);
        const onboarding = await importMachine(services, tx, machine(), {
          systemId: params.system_id,
          profile: body.profile,
          region: body.region,
          pool: body.pool ?? 'default',
          rack: body.rack ?? 'unassigned',
          nodeFamily: body.node_family ?? 'hgx-h200',
          requestedBy: caller.id,
          correlationId,
        });
        const location = `/api/v1/admin/node-onboardings/${onboarding.id}`;
        return { status: 202, body: onboarding, location };
      });
    },
    async listNodeOnboardings({ caller, query, read }) {
      authorize(caller, 'fleet.read', atPlatform);
      return { status: 200, body: await read((tx) => listOnboardings(tx, query)) };
    },
    async getNodeOnboarding({ caller, params, read }) {
      authorize(caller, 'fleet.read', atPlatform);
      return { status: 200, body: await read((tx) => getOnboarding(tx, params.onboarding_id)) };
    },
    cancelNodeOnboarding({ caller, params, audit, mutate }) {
      audit({ targetType: 'node_onboarding', targetId: params.onboarding_id });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.enrol', atPlatform);
        const request = { onboardingId: params.onboarding_id, requestedBy: caller.id };
        return { status: 202, body: await cancelOnboarding(tx, services.clock.now(), request) };
      });
    },
  };
}

/** Defers a result or refusal to where the request is decided and audited. */
async function deferred<T>(ask: () => Promise<T>): Promise<() => T> {
  try {
    const answer = await ask();
    return () => answer;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
