import type { GpuaasClient } from '@gpuaas/sdk/client';
import type { Operation } from '@gpuaas/sdk/operations';
import { unwrap } from '@gpuaas/sdk/problem';
import { findAllocation } from '../find-allocation.ts';
import { chooseOrganization, chooseProject, type Session } from '../session.ts';

export interface OperationInput {
  path: Record<string, unknown>;
  query: Record<string, unknown>;
  body: Record<string, unknown>;
  ifMatch?: string;
  everyPage: boolean;
}

interface Init {
  params: { path: Record<string, unknown>; query: Record<string, unknown>; header?: Record<string, string> };
  body?: unknown;
  parseAs?: 'text' | 'stream';
}

/** The typed client knows each path; here the contract's data chooses it. */
type AnyRequest = (
  method: string,
  path: string,
  init: Init,
) => Promise<{ data?: unknown; error?: unknown; response: Response }>;

export function untypedRequest(client: GpuaasClient): AnyRequest {
  return client.request as AnyRequest;
}

/** Sends an operation and fills in what the caller may omit: the only project, the current entity tag. */
export async function callOperation(
  session: Pick<Session, 'client' | 'context'>,
  operation: Operation,
  given: OperationInput,
): Promise<unknown> {
  const request = untypedRequest(session.client);
  const { path, method } = operation;
  const inPath = await byName(session, operation, given.path);
  const [query, body] = await Promise.all([
    complete(session, operation, 'query', given.query),
    complete(session, operation, 'body', given.body),
  ]);
  const takesBody = operation.fields.some((field) => field.in === 'body');
  const ifMatch = operation.ifMatch ? (given.ifMatch ?? (await currentTag(request, path, inPath))) : null;
  const send = async (cursor: object): Promise<unknown> =>
    await unwrap(
      request(method, path, {
        params: {
          path: inPath,
          query: { ...query, ...cursor },
          ...(ifMatch !== null && { header: { 'If-Match': ifMatch } }),
        },
        ...(takesBody && { body }),
        ...(operation.answer && operation.answer !== 'json' && { parseAs: operation.answer }),
      }),
    );
  return given.everyPage ? await everyPage(send) : await send({});
}

async function everyPage(send: (cursor: object) => Promise<unknown>): Promise<unknown> {
  const items: unknown[] = [];
  let cursor: object = { limit: 200 };
  for (;;) {
    const page = (await send(cursor)) as { items: unknown[]; next_page: string | null };
    items.push(...page.items);
    if (page.next_page === null) return { items, next_page: null };
    cursor = { limit: 200, page: page.next_page };
  }
}

/** A caller with one project or organization need not name it; a name is resolved to its id. */
async function complete(
  session: Pick<Session, 'client' | 'context'>,
  operation: Operation,
  place: 'query' | 'body',
  given: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const completed = { ...given };
  for (const [name, choose] of CHOSEN) {
    const field = operation.fields.find((one) => one.in === place && one.name === name);
    const asked = given[name];
    if (typeof asked === 'string' || (field?.required && asked === undefined))
      completed[name] = await choose(session, asked);
  }
  return completed;
}

const CHOSEN = [
  ['organization_id', chooseOrganization],
  ['project_id', chooseProject],
] as const;

/** People call their allocations by name; operators see those of all tenants and use ids. */
async function byName(
  { client }: Pick<Session, 'client'>,
  { path }: Operation,
  given: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const called = given['allocation_id'];
  if (typeof called !== 'string' || path.includes('/admin/')) return given;
  return { ...given, allocation_id: await findAllocation(client, called, 'any') };
}

async function currentTag(
  request: AnyRequest,
  path: string,
  inPath: Record<string, unknown>,
): Promise<string> {
  const answer = request('get', path, { params: { path: inPath, query: {} } });
  await unwrap(answer);
  return (await answer).response.headers.get('etag') ?? '*';
}
