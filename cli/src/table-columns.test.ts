import { expect, test } from 'vitest';
import { operations } from '@gpuaas/sdk/operations';
import { formatList } from './format-answer.ts';
import { chooseColumns } from './table-columns.ts';

const columnsOf = (path: string): string[] =>
  operations.find((one) => one.path === path && one.method === 'get')?.columns ?? [];

test('a table leads with names, states and amounts, and ends with the id', () => {
  const price = {
    id: '1',
    sku: 'h200',
    region: 'uae',
    organization_id: null,
    per_gpu_hour: { currency: 'USD', micros: 2_990_000 },
    effective_from: '2026-01-01T00:00:00.000Z',
    reason: null,
  };
  expect(chooseColumns(columnsOf('/api/v1/admin/prices'), [price])).toEqual([
    'sku',
    'per_gpu_hour',
    'region',
    'effective_from',
    'id',
  ]);
  const policies = columnsOf('/api/v1/admin/policies');
  const policy = Object.fromEntries(policies.map((name) => [name, 'x']));
  expect(chooseColumns(policies, [policy]).slice(0, 2)).toEqual(['name', 'value']);
  const nodes = columnsOf('/api/v1/admin/nodes');
  const node = Object.fromEntries(nodes.map((name) => [name, 'x']));
  expect(chooseColumns(nodes, [node]).slice(0, 3)).toEqual(['hostname', 'posture', 'connection']);
  expect(chooseColumns(columnsOf('/api/v1/teams'), [{ id: '1', name: 'a', resource_name: 'long' }])).toEqual([
    'name',
    'id',
  ]);
});

test('a cell is one line, and a time has no fractions', () => {
  const table = formatList(
    [{ title: 'a\nb', created_at: '2026-01-01T00:00:00.123Z' }],
    ['title', 'created_at'],
  );
  expect(table.split('\n')).toEqual([
    expect.stringContaining('TITLE'),
    expect.stringMatching(/^a b\s+2026-01-01T00:00:00Z$/),
  ]);
});
