import { describe, expect, it } from 'vitest';
import { controlPlaneSources, tables } from './database-tables.ts';

/** Tables of projects whose rows do not keep a project open, each with the reason. */
const NOT_OWNED: Readonly<Record<string, string>> = {
  allocation_meters: 'end with their allocation',
  allocation_overviews: 'a read model of allocations',
  app_addresses: 'the record of which name led where',
  app_request_counts: 'records of the past',
  app_artifact_smoke_runs: 'records of the past',
  app_instances: 'end with their allocation',
  app_usage_records: 'records of the past',
  handed_over_resources: 'records of the past',
  invitations: 'revoked when the project closes',
  permission_bindings: 'deleted when the project closes',
  policy_changes: 'records of the past',
  policy_values: 'settings, which cost nothing',
  project_secrets: 'deleted when the project closes',
  public_ingresses: 'end with their allocation',
  queued_launches: 'end with their allocation',
  registry_repositories: 'deleted when the project closes',
  ssh_keys: 'deleted when the project closes',
  terminal_recordings: 'records of the past',
  usage_records: 'records of the past',
};

const owners = controlPlaneSources.flatMap(({ path, text }) =>
  [
    ...text.matchAll(/^export (?:const|function) (\w+)(?:[^\n]*: ?ResourceOwner (?:=|\{)| = ownedRows\()/gm),
  ].map(([, name]) => ({
    name: name!,
    path,
    reads: [...text.matchAll(/selectFrom\(\s*'(\w+)/g)].map(([, table]) => table!),
  })),
);

describe('resources of projects', () => {
  it('keep their project open by a ResourceOwner, or are named with the reason why not', () => {
    const owned = new Set(owners.flatMap(({ reads }) => reads));
    const ofProjects = [...tables.entries()]
      .filter(([, columns]) => /^\s*project_id /m.test(columns))
      .map(([table]) => table);
    expect(ofProjects.filter((table) => !owned.has(table) && !(table in NOT_OWNED))).toEqual([]);
    const unneeded = Object.keys(NOT_OWNED).filter(
      (table) => !ofProjects.includes(table) || owned.has(table),
    );
    expect(unneeded).toEqual([]);
  });

  it('have owners that the roles know', () => {
    expect(owners.length).toBeGreaterThan(3);
    const lists = controlPlaneSources
      .filter(({ path }) => /\/(module|access-routes)\.ts$/.test(path))
      .flatMap(({ text }) => [...text.matchAll(/\bowners\b[^[\n]*\[([^\]]*)\]/g)].map(([, list]) => list!))
      .join(' ');
    const forgotten = owners.filter(({ name }) => !new RegExp(`\\b${name}\\b`).test(lists));
    expect(forgotten.map(({ path }) => path)).toEqual([]);
  });
});
