import nodeContract from '@gpuaas/contracts/generated/node-openapi.json' with { type: 'json' };
import publicContract from '@gpuaas/contracts/generated/openapi.json' with { type: 'json' };
import { policies } from '@gpuaas/contracts/generated/policies.ts';
import { describe, expect, it } from 'vitest';
import {
  follow,
  operationsOf,
  schemasBelow,
  type Document,
  type Place,
  type Schema,
} from './contract-document.ts';

const documents: [string, Document][] = [
  ['openapi.json', publicContract as unknown as Document],
  ['node-openapi.json', nodeContract as unknown as Document],
];

/** Intended differences. */
const withoutIdempotencyKey: Record<string, string> = {
  createTerminalToken: 'a token is single-use and never stored, so there is nothing to replay',
};
const changingNothing: Record<string, string> = {
  explainPlacement: 'a dry run; it is a POST for the sake of its body',
  previewInvitation: 'it changes nothing; it is a POST to keep the token out of addresses',
};
const openBodies: Record<string, string> = {
  'schemas/TaskOutcome/output': 'checked against the output schema of the task kind instead',
  'receiveStripeEvent/request':
    'Stripe decides what is in it; of all of it we keep which payment it is about',
};

describe('limits of bodies in openapi.json', () => {
  it('are so small that the worst body is refused within 20 ms', () => {
    const document = publicContract as unknown as Document;
    const bytes = operationsOf(document).map(({ operation }) => operation['x-max-body-bytes'] ?? 0);
    // Parsing costs most where every few bytes name another field; `npm run bench:refusals` measures it.
    expect(Math.max(document['x-max-body-bytes']!, ...bytes)).toBeLessThanOrEqual(128 * 1024);
  });
});

describe.each(documents)('limits in %s', (_name, document) => {
  const seen = new Set<string>();
  const everything: Place[] = operationsOf(document).flatMap(({ operation }) => [
    ...(operation.parameters ?? [])
      .map((parameter) => follow(document, parameter))
      .flatMap((parameter) =>
        schemasBelow(document, parameter.schema ?? {}, `${operation.operationId}/${parameter.name}`, seen),
      ),
    ...bodiesOf(operation.requestBody).flatMap((schema) =>
      schemasBelow(document, schema, `${operation.operationId}/request`, seen),
    ),
    ...Object.entries(operation.responses).flatMap(([status, response]) =>
      bodiesOf(follow(document, response)).flatMap((schema) =>
        schemasBelow(document, schema, `${operation.operationId}/${status}`, seen),
      ),
    ),
  ]);

  it('stand on every string', () => {
    expect(unbounded(everything, 'string', endsSomewhere)).toEqual([]);
  });

  it('stand on every array', () => {
    expect(unbounded(everything, 'array', (schema) => 'maxItems' in schema)).toEqual([]);
  });

  it('stand on every body', () => {
    const limits = [document, ...operationsOf(document).map(({ operation }) => operation)]
      .map((part) => part['x-max-body-bytes'])
      .filter((bytes) => bytes !== undefined);
    expect(document['x-max-body-bytes']).toBeTypeOf('number');
    expect(limits.filter((bytes) => !Number.isInteger(bytes) || bytes < 1 || bytes > 1024 * 1024)).toEqual(
      [],
    );
  });

  it('stand on the body of every operation that takes one', () => {
    const without = operationsOf(document)
      .map(({ operation }) => operation)
      .filter((operation) => operation.requestBody && operation['x-max-body-bytes'] === undefined)
      .filter((operation) => operation['x-max-stream-bytes'] === undefined);
    expect(without.map(({ operationId }) => operationId)).toEqual([]);
  });

  it('refuse unknown fields in every request body', () => {
    const bodies = operationsOf(document).flatMap(({ operation }) =>
      bodiesOf(operation.requestBody).flatMap((schema) =>
        schemasBelow(document, schema, `${operation.operationId}/request`, new Set()),
      ),
    );
    const open = bodies
      .filter(({ schema }) => isType(schema, 'object') || schema.properties)
      .filter(({ schema }) => schema.additionalProperties !== false && schema.unevaluatedProperties !== false)
      .map(({ where }) => where);
    expect([...new Set(open)].filter((where) => !(where in openBodies))).toEqual([]);
  });

  it('leave room for a refusal in every operation', () => {
    const silent = operationsOf(document)
      .map(({ operation }) => operation)
      .filter(({ responses }) => !Object.keys(responses).some((status) => status.startsWith('4')));
    expect(silent.map(({ operationId }) => operationId)).toEqual([]);
  });
});

/** They end, repeat or take back what exists, so there is never more of it. */
const makingNothing: Record<string, string> = {
  releaseAllocation: 'ends a lease',
  stopAppInstance: 'ends an app instance',
  retryAllocationRelease: 'ends a lease',
  retryReleaseForTenant: 'ends a lease',
  retryCleanup: 'wipes a slot that waits for it',
  retryCleanups: 'wipes slots that wait for it',
  cancelNodeOnboarding: 'ends an onboarding',
};

describe.each(documents)('operations that make something in %s', (_name, document) => {
  const making = operationsOf(document).filter(
    ({ method, operation }) =>
      method === 'post' && (operation.responses['201'] || operation.responses['202']),
  );

  it('name the policy that bounds how much, which must exist', () => {
    const unlimited = making
      .map(({ operation }) => operation)
      .filter((operation) => !(operation.operationId in makingNothing))
      .filter((operation) => !Object.hasOwn(policies, operation['x-limit'] ?? ''));
    expect(unlimited.map(({ operationId }) => operationId)).toEqual([]);
  });
});

describe('audited operations of the node port', () => {
  it('name the policy that bounds how many rows a host writes into the log that nobody may delete', () => {
    const unlimited = operationsOf(nodeContract as unknown as Document)
      .map(({ operation }) => operation)
      .filter((operation) => operation['x-audit'] !== undefined)
      .filter((operation) => !Object.hasOwn(policies, operation['x-limit'] ?? ''));
    expect(unlimited.map(({ operationId }) => operationId)).toEqual([]);
  });
});

const ENDS = 'ends or revokes what exists';
const SWITCHES =
  'changes the state of a row that exists, and is refused or changes nothing in any other state';
const ONE_EACH = 'keeps one row for each thing that it names, and such things have limits';
const REPORTS =
  'takes each record once, from meters that the platform trusts; its pace is that of every caller';

/** Answer 200 or 204 and make no more of anything however often they are called; a new one is reviewed and listed. */
const multiplyingNothing: Record<string, string> = {
  leaveOrganization: ENDS,
  disableMember: SWITCHES,
  enableMember: SWITCHES,
  disableServiceAccount: SWITCHES,
  enableServiceAccount: SWITCHES,
  enableWebhook: SWITCHES,
  rotateWebhookSecret: 'a webhook has one secret, and the one before it',
  verifyIdentityProviderDomain: SWITCHES,
  addTeamMember: ONE_EACH,
  markNotificationRead: SWITCHES,
  extendAllocation: SWITCHES,
  offerWholeNode: 'a host has one unit for each of its GPUs',
  setAllocationTags: ONE_EACH,
  setAppSharing: ONE_EACH,
  cancelReservation: ENDS,
  cancelReservationOf: ENDS,
  setBudget: ONE_EACH,
  payWithTestCard: SWITCHES,
  setAutoTopUp: ONE_EACH,
  drainNode: SWITCHES,
  resumeNode: SWITCHES,
  cancelMaintenance: ENDS,
  disableResourceSlot: SWITCHES,
  repairResourceSlot: SWITCHES,
  startDiskConversion: SWITCHES,
  finishDiskConversion: SWITCHES,
  approveResourceSlots: SWITCHES,
  revokeNodeIdentity: ENDS,
  revokeNodeEnrolment: ENDS,
  forceReleaseAllocation: ENDS,
  recordHostCleanup: ENDS,
  recordExternalWipe: ENDS,
  retireSlot: ENDS,
  retireNodeAuthority: ENDS,
  acknowledgeIncident: SWITCHES,
  resolveIncident: ENDS,
  skipParkedEvent: ENDS,
  endSignInsOfPerson: ENDS,
  reportAppUsage: REPORTS,
  setPolicy: ONE_EACH,
  setOrganizationPolicy: ONE_EACH,
  setLabFaults: ONE_EACH,
  setOrganizationQuota: ONE_EACH,
  setTenantQuota: ONE_EACH,
  setSkuEntitlement: ONE_EACH,
  activateAppManifestVersion: SWITCHES,
  withdrawAppManifest: ENDS,
  setAppManifestCanary: SWITCHES,
  rollBackAppManifest: ENDS,
  verifyAppArtifact: ONE_EACH,
  stageAppArtifact: SWITCHES,
  promoteAppArtifact: SWITCHES,
  rollBackAppArtifact: SWITCHES,
  deprecateAppArtifact: ENDS,
  retireAppArtifact: ENDS,
};

describe('mutations under /api/v1 that do not answer 201 or 202', () => {
  const document = publicContract as unknown as Document;
  const unlimited = operationsOf(document)
    .filter(({ method, path }) => ['post', 'put'].includes(method) && path.startsWith('/api/v1/'))
    .map(({ operation }) => operation)
    .filter(({ operationId }) => !(operationId in changingNothing) && !(operationId in makingNothing))
    .filter((operation) => !Object.hasOwn(policies, operation['x-limit'] ?? ''))
    .map(({ operationId }) => operationId);

  it('name the policy that bounds what they multiply, or multiply nothing', () => {
    expect(unlimited.toSorted()).toEqual(Object.keys(multiplyingNothing).toSorted());
  });
});

describe('mutations under /api/v1', () => {
  const document = publicContract as unknown as Document;
  const mutations = operationsOf(document).filter(
    ({ method, path, operation }) =>
      method !== 'get' && path.startsWith('/api/v1/') && !(operation.operationId in changingNothing),
  );
  const missing = (holds: (id: (typeof mutations)[number]) => boolean): string[] =>
    mutations.filter((mutation) => !holds(mutation)).map(({ operation }) => operation.operationId);

  it('name the permission they need and the action they audit', () => {
    expect(missing(({ operation }) => operation['x-permission'] !== undefined)).toEqual([]);
    expect(missing(({ operation }) => operation['x-audit'] !== undefined)).toEqual([]);
  });

  it('take an idempotency key', () => {
    const without = missing(({ operation }) =>
      (operation.parameters ?? []).some(
        (parameter) => follow(document, parameter).name === 'X-Idempotency-Key',
      ),
    );
    expect(without).toEqual(Object.keys(withoutIdempotencyKey));
  });
});

/** JSON alone: a page, a metrics text or an endless stream has no length to declare. */
function bodiesOf(part: { content?: Record<string, { schema?: Schema }> } | undefined): Schema[] {
  return Object.entries(part?.content ?? {})
    .filter(([mediaType]) => /\bjson$/.test(mediaType))
    .flatMap(([, { schema }]) => (schema ? [schema] : []));
}

function isType(schema: Schema, type: string): boolean {
  return Array.isArray(schema.type) ? schema.type.includes(type) : schema.type === type;
}

/** By a length, by its values, or by a bounded form: an unbounded pattern is no limit. */
function endsSomewhere({ format, pattern, ...schema }: Schema): boolean {
  if (['maxLength', 'enum', 'const'].some((bound) => bound in schema) || format === 'uuid') return true;
  return typeof pattern === 'string' && /^\^.*\$$/.test(pattern) && !/[*+]|,\}/.test(pattern);
}

function unbounded(places: Place[], type: string, isBounded: (schema: Schema) => boolean): string[] {
  return places.filter(({ schema }) => isType(schema, type) && !isBounded(schema)).map(({ where }) => where);
}
