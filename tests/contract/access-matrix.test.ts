import document from '@gpuaas/contracts/generated/openapi.json' with { type: 'json' };
import { newSecret } from '@gpuaas/control-plane/platform/auth/secrets';
import { readConfig } from '@gpuaas/control-plane/roles/config';
import { startMaasServer, type MaasServer } from '@gpuaas/lab/maas/maas-server';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestApi, TEST_PUBLIC_URL, type TestApi } from '../harness/api.ts';
import {
  AUDIENCE,
  startIdentityProvider,
  type TestIdentityProvider,
} from '../harness/sign-in/identity-provider.ts';
import { maasEnv } from '../harness/fleet/maas.ts';
import { createCallers, type RoleCaller } from './access/callers.ts';
import { changedTables, databaseState, type DatabaseState } from './access/database-state.ts';
import { expectation, type Target } from './access/expectation.ts';
import { targetRequests } from './access/target-requests.ts';
import { KNOWN_MACHINE, seedKnownResources, type KnownValues } from './known-resources.ts';
import { Contract, type Operation } from './operations.ts';
import type { GeneratedRequest } from './requests.ts';

const TARGETS: Target[] = ['existing', 'missing'];
const PARALLEL = 8;

interface Case {
  /** For the failure message. */
  who: string;
  target: Target;
  authorization: string | null;
  /** Belongs to the tenant that owns the target. */
  member: boolean;
}

interface Answered extends Case {
  status: number;
  /** The response without parts that differ from request to request. */
  content: string;
}

const contract = new Contract(document);
const guarded = contract.operations
  .filter((operation) => !operation.public)
  .map((operation) => ({ id: operation.id, operation }));

let api: TestApi;
let idp: TestIdentityProvider;
let maas: MaasServer;
let callers: RoleCaller[];
let valuesFor: (operation: string) => KnownValues;
let invalid: Record<string, string | null>;
let cases = 0;

beforeAll(async () => {
  idp = await startIdentityProvider();
  maas = await startMaasServer();
  maas.add({ systemId: KNOWN_MACHINE, hostname: 'gpu-of-maas' });
  const { issuer, clientId, clientSecret, cliClientId } = idp;
  const redirectUri = `${TEST_PUBLIC_URL}/auth/callback`;
  const scopes = 'openid email profile';
  api = await createTestApi({
    oidc: { issuer, clientId, clientSecret, cliClientId, audience: AUDIENCE, scopes, redirectUri },
    maas: readConfig([], maasEnv(maas)).maas!,
  });
  ({ valuesFor } = await seedKnownResources(api));
  const tenantOf = (person: string) => ({
    organizationId: api.people[person]!.organizationId!,
    projectId: api.people[person]!.projectId!,
  });
  callers = await createCallers(api.services.db, { owner: tenantOf('admin'), other: tenantOf('other') });
  invalid = {
    'no credential': null,
    'a malformed key': 'Bearer gpk_not-a-key',
    'another scheme': 'Basic bm9ib2R5Om5vYm9keQ==',
    'an unknown key': `Bearer ${newSecret('api_key')}`,
    'a token for another audience': `Bearer ${await idp.sign({ aud: 'urn:somebody-else' })}`,
    'an expired token': `Bearer ${await idp.sign({ exp: Math.floor(Date.now() / 1000) - 3600 })}`,
  };
});
afterAll(async () => {
  console.log(`access matrix: ${cases} cases of ${guarded.length} operations`);
  await api?.stop();
  await idp?.stop();
  await maas?.stop();
});

describe.each(guarded)('$id', ({ operation }) => {
  it('refuses every request without a valid credential', async () => {
    await unchanged(async () => {
      const strangers = Object.entries(invalid).flatMap(([who, authorization]) =>
        TARGETS.map((target) => ({ who, target, authorization, member: false })),
      );
      const former = callers.flatMap((caller) =>
        (['expired', 'revoked'] as const).flatMap((state) =>
          TARGETS.map((target) => ({
            who: `${state} key of ${name(caller)}`,
            target,
            authorization: `Bearer ${caller.keys[state]}`,
            member: false,
          })),
        ),
      );
      const answers = await ask(operation, [...strangers, ...former]);
      expect(wrong(answers, 401)).toEqual([]);
      expect(differing(answers)).toEqual([]);
    });
  });

  it('refuses every role that the contract does not let in, and what is another tenant’s is missing', async () => {
    await unchanged(async () => {
      const refused = callersThat(operation, (expected) => expected !== 'passes');
      for (const status of [403, 404]) {
        const answers = await ask(
          operation,
          refused.filter(({ expected }) => expected === status),
        );
        expect(wrong(answers, status)).toEqual([]);
        // A member of the tenant may learn that a resource exists; other callers must not be able to
        // distinguish it from a missing one.
        expect(differing(answers.filter(({ member }) => !member))).toEqual([]);
      }
    });
  });
});

describe.each(guarded.filter(({ operation }) => !isStream(operation) && !operation.browserOnly))(
  '$id',
  ({ operation }) => {
    it('lets in every role that the contract lets in', async () => {
      let ended = false;
      for (const one of callersThat(operation, (expected) => expected === 'passes')) {
        const [answer] = await ask(operation, [one]);
        // A resource that an earlier caller deleted is missing for the next.
        const gone = ended && answer!.status === 404;
        const refused = [400, 401, 403, 404].includes(answer!.status) && !gone;
        expect(refused || answer!.status >= 500, `${answer!.who}: ${answer!.status} ${answer!.content}`).toBe(
          false,
        );
        ended ||= answer!.status < 300 && operation.method !== 'GET';
      }
    });
  },
);

function callersThat(operation: Operation, fits: (expected: ReturnType<typeof expectation>) => boolean) {
  return callers.flatMap((caller) =>
    TARGETS.map((target) => ({
      target,
      who: name(caller),
      authorization: `Bearer ${caller.keys.valid}`,
      member: caller.standing === 'owner tenant',
      expected: expectation(operation, caller, target),
    })).filter(({ expected }) => fits(expected)),
  );
}

async function ask(operation: Operation, asked: Case[]): Promise<Answered[]> {
  const requests = targetRequests(contract, operation, valuesFor(operation.id));
  const answers: Answered[] = [];
  const queue = asked.values();
  const work = async (): Promise<void> => {
    for (const one of queue) {
      const answer = await send(requests[one.target], one.authorization);
      answers.push({ ...one, status: answer.statusCode, content: comparable(answer) });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  cases += asked.length;
  return answers;
}

async function send(
  { method, url, headers, payload }: GeneratedRequest,
  authorization: string | null,
): Promise<LightMyRequestResponse> {
  return await api.server.inject({
    method: method as 'GET',
    url,
    headers: { ...headers, ...(authorization === null ? {} : { authorization }) },
    ...(payload === undefined ? {} : { payload }),
  });
}

/** The bytes of a response without its own id, the time and the remaining rate. */
function comparable({ headers, body }: LightMyRequestResponse): string {
  const id = String(headers['x-correlation-id']);
  const { date: _date, ratelimit: _left, ...rest } = headers;
  return JSON.stringify([rest, body]).replaceAll(id, '(id)');
}

/** As the last of them left it: nothing happens in between. */
let lastState: DatabaseState | undefined;

async function unchanged(run: () => Promise<void>): Promise<void> {
  const before = lastState ?? (await databaseState(api.services.db));
  await run();
  lastState = await databaseState(api.services.db);
  expect(changedTables(before, lastState)).toEqual([]);
}

function wrong(answers: Answered[], status: number): string[] {
  return answers
    .filter((answer) => answer.status !== status)
    .map(
      ({ who, target, status: got, content }) =>
        `${who}, ${target}: ${got} instead of ${status} ${content.slice(-300)}`,
    );
}

/** Callers who can distinguish existing from missing resources by the responses. */
function differing(answers: Answered[]): string[] {
  const byCaller = Map.groupBy(answers, ({ who }) => who);
  return [...byCaller.values()]
    .filter((own) => new Set(own.map(({ content }) => content)).size > 1)
    .map((own) => own.map(({ who, target, content }) => `${who}, ${target}: ${content}`).join('\n'));
}

function name({ role, standing }: RoleCaller): string {
  return `${role} of ${standing}`;
}

function isStream(operation: Operation): boolean {
  return 'text/event-stream' in (operation.responses['200']?.content ?? {});
}
