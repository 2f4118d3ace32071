import { sql } from 'kysely';
import type { Services } from '../../../platform/services.ts';
import type { Tick } from '../../../platform/ticks/tick.ts';
import { syncIncidents, type IncidentCondition } from '../../incidents/sync-incidents.ts';
import type { ArtifactRow } from './move-artifact.ts';
import { judgeTrust, trustPolicy } from './trust/judge-trust.ts';

/** Enough to show the fault; the rest is reported once these are resolved. */
const LIMIT = 100;

type Offered = Pick<ArtifactRow, 'digest' | 'repository' | 'state' | 'trust_verdict' | 'trust_key'> & {
  in_registry: boolean;
};

/** Opens `app_artifact_lifecycle` for offered artifacts that launches refuse, or that their registry no longer has. */
export const watchArtifacts: Tick<Services> = {
  name: 'apps.watch_artifacts',
  everySeconds: 30,
  catchUp: 'skip',
  async run({ db, clock, policies }) {
    const { rows: offered } = await sql<Offered>`
      select a.digest, a.repository, a.state, a.trust_verdict, a.trust_key, exists (
          select from registry_manifests m join registry_repositories r on r.id = m.repository_id
          where m.digest = a.digest and r.project_id is null and r.deleted_at is null
            and 'system/' || r.name = a.repository) as in_registry
      from app_artifacts a
      where a.state in ('canary', 'active') and exists (
        select from app_manifest_versions v where v.artifact_ref = a.digest and v.state in ('canary', 'active'))
      order by a.digest`.execute(db);
    const policy = trustPolicy(policies);
    const conditions = offered.flatMap(({ in_registry: inRegistry, ...artifact }): IncidentCondition[] => {
      const { digest, repository, state } = artifact;
      const distrust = judgeTrust(artifact, policy);
      const gone = repository !== null && !inRegistry;
      if (!distrust && !gone) return [];
      const summary = distrust
        ? `Launches are refused: ${distrust.message}`
        : `${repository} no longer has ${digest}, which is ${state}.`;
      const reason = distrust?.reason ?? 'not_in_registry';
      return [
        { targetType: 'app_artifact', targetId: digest, summary, detail: { reason, state, repository } },
      ];
    });
    await db
      .transaction()
      .execute((tx) =>
        syncIncidents(
          tx,
          clock.now(),
          'app_artifact_lifecycle',
          conditions.slice(0, LIMIT),
          'The artifact is trusted and stored, or no longer offered.',
        ),
      );
  },
};
