import type { Tx } from '../../../../platform/db/database.ts';
import { Problem } from '../../../../platform/http/problem.ts';
import type { Policies } from '../../../../platform/policy/policies.ts';
import { findLastRun, type SmokeRunRow } from './find-smoke-runs.ts';

/** Why a draft may be staged: the run that passed, or the waiver. */
export type Evidence = { smoke_run_id: string } | { smoke_waiver: string };

/** The evidence for staging a locked draft; refuses with the reason of its last run where none passed and nobody waives. */
export async function requireSmokeRun(
  policies: Policies,
  tx: Tx,
  { digest }: { digest: string },
  waiver: string | null,
): Promise<Evidence> {
  const last = await findLastRun(tx, digest);
  if (last?.state === 'passed') return { smoke_run_id: last.id };
  if (waiver !== null) return { smoke_waiver: waiver };
  if (policies.get('apps.smoke_run') === 'waived')
    return { smoke_waiver: 'The policy apps.smoke_run waives smoke runs.' };
  throw refusal(digest, last);
}

function refusal(digest: string, last: SmokeRunRow | null): Problem {
  if (!last) return new Problem('artifact_smoke_run', `${digest} has no smoke run. Start one first.`);
  const { state, reason, message, app_instance_id } = last;
  const what = state === 'running' ? 'goes on' : 'failed';
  return new Problem('artifact_smoke_run', `The smoke run of ${digest} ${what}: ${message}`, {
    extensions: { smoke_run: { state, reason, app_instance_id } },
  });
}
