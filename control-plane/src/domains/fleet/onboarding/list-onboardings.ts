import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { Db, Tx } from '../../../platform/db/database.ts';
import { fromCursor } from '../../../platform/db/given.ts';
import { notFound } from '../../../platform/http/problem.ts';
import { decodePage, toPage, type Page } from '../../../platform/http/page.ts';
import type { OnboardingRow } from './onboarding-token.ts';
import { onboardingWorkflowId } from './onboard-node.workflow.ts';
import { first } from '../../../platform/present.ts';

export type NodeOnboarding = components['schemas']['NodeOnboarding'];

export async function listOnboardings(
  tx: Db | Tx,
  query: { limit: number; page?: string },
): Promise<Page<NodeOnboarding>> {
  const after = decodePage(query.page, ['uuid']);
  const rows = await tx
    .selectFrom('node_onboardings')
    .selectAll()
    .$call(fromCursor(after, (q, [id]) => q.where('id', '<', id)))
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const page = toPage(rows, query.limit, (row) => [row.id]);
  return { items: await describeOnboardings(tx, page.rows), next_page: page.next_page };
}

export async function getOnboarding(tx: Db | Tx, onboardingId: string): Promise<NodeOnboarding> {
  const row = await tx
    .selectFrom('node_onboardings')
    .selectAll()
    .where('id', '=', onboardingId)
    .executeTakeFirst();
  if (!row) throw notFound();
  return first(await describeOnboardings(tx, [row]), 'onboarding');
}

async function describeOnboardings(tx: Db | Tx, rows: readonly OnboardingRow[]): Promise<NodeOnboarding[]> {
  if (rows.length === 0) return [];
  const steps = await tx
    .selectFrom('node_onboarding_steps')
    .selectAll()
    .where(
      'onboarding_id',
      'in',
      rows.map(({ id }) => id),
    )
    .orderBy('position')
    .execute();
  const byOnboarding = Map.groupBy(steps, (step) => step.onboarding_id);
  return rows.map((row) => ({
    id: row.id,
    system_id: row.maas_system_id,
    hostname: row.hostname,
    profile: row.profile,
    region: row.region,
    state: row.state,
    undone: row.undone,
    detail: row.detail,
    steps: (byOnboarding.get(row.id) ?? []).map((step) => ({
      step: step.step,
      state: step.state,
      message: step.message,
      started_at: step.started_at?.toISOString() ?? null,
      finished_at: step.finished_at?.toISOString() ?? null,
    })),
    node_id: row.node_id,
    enrolment_id: row.enrolment_id,
    workflow_id: onboardingWorkflowId(row.id),
    cancel_requested_at: row.cancel_requested_at?.toISOString() ?? null,
    requested_by: row.requested_by,
    requested_at: row.requested_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
  }));
}
