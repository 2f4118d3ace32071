import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { authorize, type Caller } from '../../platform/auth/caller.ts';
import type { Handlers } from '../../platform/http/operation.ts';
import type { Services } from '../../platform/services.ts';
import { askMaas } from './onboarding/ask-maas.ts';
import { cancelOnboarding } from './onboarding/cancel-onboarding.ts';
import { getOnboarding, listOnboardings } from './onboarding/describe-onboarding.ts';
import { importMachine } from './onboarding/import-machine.ts';
import { listMachines } from './onboarding/list-machines.ts';

type MaasOperations = Pick<
  operations,
  | 'listMaasMachines'
  | 'importMaasMachine'
  | 'listNodeOnboardings'
  | 'getNodeOnboarding'
  | 'cancelNodeOnboarding'
>;

const platform = { kind: 'platform' } as const;

/** Machines of MAAS, and how they become hosts. */
export function maasRoutes(services: Services): Handlers<MaasOperations, Caller> {
  return {
    async listMaasMachines({ caller, query, read }) {
      authorize(caller, 'fleet.read', platform);
      const machines = await askMaas(services, (client) => client.machines());
      return { status: 200, body: await read((tx) => listMachines(tx, machines, { limit: 50, ...query })) };
    },
    async importMaasMachine({ caller, params, body, correlationId, audit, mutate }) {
      audit({ targetType: 'maas_machine', targetId: params.system_id, detail: { ...body } });
      // MAAS may take its time, and no transaction waits for it; who may not import does not get that far.
      const machine = await heard(() => {
        authorize(caller, 'fleet.enrol', platform);
        return askMaas(services, (client) => client.machine(params.system_id));
      });
      return await mutate(async (tx) => {
        authorize(caller, 'fleet.enrol', platform);
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
      authorize(caller, 'fleet.read', platform);
      return { status: 200, body: await read((tx) => listOnboardings(tx, { limit: 50, ...query })) };
    },
    async getNodeOnboarding({ caller, params, read }) {
      authorize(caller, 'fleet.read', platform);
      return { status: 200, body: await read((tx) => getOnboarding(tx, params.onboarding_id)) };
    },
    cancelNodeOnboarding({ caller, params, audit, mutate }) {
      audit({ targetType: 'node_onboarding', targetId: params.onboarding_id });
      return mutate(async (tx) => {
        authorize(caller, 'fleet.enrol', platform);
        const request = { onboardingId: params.onboarding_id, requestedBy: caller.id };
        return { status: 202, body: await cancelOnboarding(tx, services.clock.now(), request) };
      });
    },
  };
}

/** An answer, or the refusal, to be taken up where the request is decided: there refusals leave their trace. */
async function heard<T>(ask: () => Promise<T>): Promise<() => T> {
  try {
    const answer = await ask();
    return () => answer;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
