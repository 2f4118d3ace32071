import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import { atPlatform, authorize, type Caller } from '../../../platform/auth/caller.ts';
import type { Handlers } from '../../../platform/http/operation.ts';
import { decodePage, toPage } from '../../../platform/http/page.ts';
import { notFound } from '../../../platform/http/problem.ts';
import type { Lab, LabHost } from './lab.ts';
import { present } from '../../../platform/present.ts';

type LabOperations = Pick<operations, 'listLabHosts' | 'getLabFaults' | 'setLabFaults'>;

/** Faults of simulated hosts. Without a lab its paths answer as if they did not exist. */
export function labRoutes(lab: Lab | null): Handlers<LabOperations, Caller> {
  async function hostOf(hostname: string): Promise<LabHost> {
    if (!lab || !(await lab.hostnames()).includes(hostname)) throw notFound();
    return { hostname, faults: await lab.faultsOf(hostname) };
  }
  return {
    async listLabHosts({ caller, query }) {
      authorize(caller, 'fleet.read', atPlatform);
      if (!lab) throw notFound();
      const { limit, page } = query;
      const after = decodePage(page, ['text'])?.[0] ?? '';
      const names = (await lab.hostnames()).filter((name) => name > after).slice(0, limit + 1);
      const { rows, next_page } = toPage(names, limit, (name) => [name]);
      return { status: 200, body: { items: await Promise.all(rows.map(hostOf)), next_page } };
    },
    async getLabFaults({ caller, params }) {
      authorize(caller, 'fleet.read', atPlatform);
      return { status: 200, body: await hostOf(params.lab_hostname) };
    },
    setLabFaults({ caller, params, body, audit, mutate }) {
      const hostname = params.lab_hostname;
      audit({ targetType: 'lab_host', targetId: hostname, detail: { faults: body.faults } });
      return mutate(async () => {
        authorize(caller, 'lab.operate', atPlatform);
        await hostOf(hostname);
        await present(lab, 'lab').setFaults(hostname, body.faults);
        return { status: 200, body: await hostOf(hostname) };
      });
    },
  };
}
