import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { incidentTypes } from '@gpuaas/contracts/generated/incidents.ts';
import document from '@gpuaas/contracts/generated/openapi.json' with { type: 'json' };

const root = join(import.meta.dirname, '../../../..');

it.each(Object.entries(incidentTypes))('%s has a runbook that names it', (type, { runbook }) => {
  expect(existsSync(join(root, runbook)), runbook).toBe(true);
  const text = readFileSync(join(root, runbook), 'utf8');
  expect(text).toContain(`\`${type}\``);
  for (const heading of ['## Look', '## Do']) expect(text).toContain(heading);
});

it('every runbook belongs to an incident', () => {
  const used = Object.values(incidentTypes).map(({ runbook }) => basename(runbook));
  const written = readdirSync(join(root, 'docs/runbooks')).filter((name) => name !== 'README.md');
  expect(written.toSorted()).toEqual(used.toSorted());
});

it('the contract lists the same types', () => {
  expect(document.components.schemas.IncidentType.enum).toEqual(Object.keys(incidentTypes));
});
