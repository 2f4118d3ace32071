import type { GpuaasClient } from '@gpuaas/sdk/client';
import { unwrap } from '@gpuaas/sdk/problem';
import { harmless } from '../paint.ts';
import type { ProgressView } from './open-progress-view.ts';

/** Each new entry of the timeline as a line. */
export function toldEntries(client: GpuaasClient, id: string): ProgressView {
  const path = { allocation_id: id };
  let page: string | undefined;
  let told = 0;
  return {
    async show() {
      const query = { limit: 200, ...(page ? { page } : {}) };
      const timeline = await unwrap(
        client.GET('/api/v1/allocations/{allocation_id}/timeline', { params: { path, query } }),
      );
      for (const entry of timeline.items.slice(told)) {
        if (entry.status !== 'running' || entry.percent === null)
          console.error(harmless(`  ${entry.stage}: ${entry.message}`));
      }
      told = timeline.items.length;
      if (timeline.next_page) [page, told] = [timeline.next_page, 0];
    },
    end: () => undefined,
  };
}
