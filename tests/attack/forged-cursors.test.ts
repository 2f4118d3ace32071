import document from '@gpuaas/contracts/generated/openapi.json' with { type: 'json' };
import { newId } from '@gpuaas/control-plane/platform/ids';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCallers, keyOfHolder, type RoleCaller } from '../contract/access/callers.ts';
import { CANNOT_SUCCEED, seedKnownResources, type KnownValues } from '../contract/known-resources.ts';
import { Contract, type Operation } from '../contract/operations.ts';
import { plainRequests } from '../contract/requests.ts';
import { createTestApi, type TestApi } from '../harness/api.ts';

/** What a forger may write for one part of a sort key. */
const PARTS: unknown[] = [
  '1',
  '\0',
  '\ud800',
  '9'.repeat(18),
  '9'.repeat(19),
  newId(),
  '2026-01-01T00:00:00Z',
  '2026-02-30T00:00:00Z',
  '+275760-09-13T00:00:00.000Z',
  'infinity',
  1,
  null,
  {},
];
/** How many parts sort keys have. */
const LENGTHS = [1, 2, 3, 4, 6];

const contract = new Contract(document);
const paged = contract.operations
  .filter(({ parameters }) => parameters.some(({ name }) => name === 'page'))
  .map((operation) => ({ id: operation.id, operation }));

let api: TestApi;
let callers: RoleCaller[];
let valuesFor: (operation: string) => KnownValues;
beforeAll(async () => {
  api = await createTestApi();
  ({ valuesFor } = await seedKnownResources(api));
  const tenantOf = (person: string) => ({
    organizationId: api.people[person]!.organizationId!,
    projectId: api.people[person]!.projectId!,
  });
  callers = await createCallers(api.services.db, { owner: tenantOf('admin'), other: tenantOf('other') });
});
afterAll(() => api?.stop());

describe.each(paged)('$id', ({ operation }) => {
  it('answers a forged cursor without a server error', async () => {
    const statuses = new Set<number>();
    const key = await keyFor(operation);
    for (const cursor of cursors()) {
      const answer = await send(operation, cursor, key);
      statuses.add(answer.statusCode);
      expect(
        answer.statusCode,
        `${Buffer.from(cursor, 'base64url').toString()} → ${answer.body}`,
      ).toBeLessThan(500);
    }
    if (!(operation.id in CANNOT_SUCCEED)) expect([...statuses], 'the cursor was read').toContain(400);
  });
});

describe('the event stream', () => {
  it.each([
    '99999999999999999999-1',
    '18446744073709551616-1',
    '1-9223372036854775808',
    '0-9999999999999999999',
  ])('begins with the next event for a Last-Event-ID that no event has: %s', async (id) => {
    const url = await api.server
      .listen({ host: '127.0.0.1', port: 0 })
      .catch(() => api.server.listeningOrigin);
    const cut = new AbortController();
    try {
      const answer = await fetch(`${url}/api/v1/events/stream`, {
        headers: { authorization: `Bearer ${api.people['admin']!.apiKey}`, 'last-event-id': id },
        signal: cut.signal,
      });
      expect(answer.status).toBe(200);
      const reader = answer.body!.getReader();
      const { value } = await reader.read();
      expect(new TextDecoder().decode(value)).not.toContain(id);
    } finally {
      cut.abort();
    }
  });
});

/** Keys of one part over and over, keys that begin like good ones, and what is no key. */
function cursors(): string[] {
  const keys = PARTS.flatMap((part) => LENGTHS.map((length) => Array.from({ length }, () => part)));
  const begun = [
    [newId(), newId(), 'a', 'a', 'a', 'a'],
    ['project', newId(), 'a', 'a'],
    ['x', newId(), '\ud800', 'a'],
    ['2026-01-01', 'a', 'b'],
    ['+275760-09-13T00:00:00.000Z', newId()],
    ['1', newId()],
  ];
  const encoded = [...keys, ...begun, [], {}, 7].map((key) =>
    Buffer.from(JSON.stringify(key)).toString('base64url'),
  );
  return [...encoded, 'x', '='];
}

function send(operation: Operation, cursor: string, key: string) {
  const [request] = fc.sample(plainRequests(contract, operation, valuesFor(operation.id)), {
    seed: 1,
    numRuns: 1,
  });
  const url = new URL(request!.url, 'http://x');
  url.searchParams.set('page', cursor);
  return api.server.inject({
    method: request!.method as 'GET',
    url: url.pathname + url.search,
    headers: { ...request!.headers, authorization: `Bearer ${key}` },
  });
}

/** Of somebody who may read the list: a role somewhere else is not enough for some. */
async function keyFor(operation: Operation): Promise<string> {
  const { permission } = operation;
  const keys = [api.people['admin']!.apiKey, api.people['operator']!.apiKey];
  if (permission !== null && permission !== 'self') keys.unshift(keyOfHolder(callers, permission));
  for (const key of keys) if ((await send(operation, 'x', key)).statusCode !== 403) return key;
  return keys[0]!;
}
