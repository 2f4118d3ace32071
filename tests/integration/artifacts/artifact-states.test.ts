import { migrate } from '@gpuaas/control-plane/platform/db/migrate';
import { openDatabase } from '@gpuaas/control-plane/platform/db/database';
import {
  artifactMoves,
  canMove,
  type ArtifactState,
} from '@gpuaas/control-plane/domains/apps/artifacts/states';
import { newId } from '@gpuaas/control-plane/platform/ids';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shellManifest } from '../../harness/apps/apps.ts';
import { Publisher } from '../../harness/artifacts/publisher.ts';
import { openOlderDatabase } from '../../harness/older-database.ts';
import {
  descriptorOf,
  digestOf,
  expectStatus,
  imageOf,
  OCI_MANIFEST,
} from '../../harness/registry/oci-client.ts';

let publisher: Publisher;
beforeAll(async () => {
  publisher = await Publisher.open();
});
afterAll(() => publisher?.api.stop());

const REPOSITORY = 'system/apps/tool';
const states = Object.keys(artifactMoves) as ArtifactState[];

describe('an artifact', () => {
  it('is the digest that its tag named at registration, however the tag moves', async () => {
    const first = await publisher.register(REPOSITORY, 'latest', 'first');
    const artifact = await publisher.must('GET', `admin/app-artifacts/${first}`);
    expect(artifact).toMatchObject({
      artifact_ref: `127.0.0.1:1/${REPOSITORY}@${first}`,
      state: 'draft',
      payload_digest: digestOf('first'),
      bytes: 5,
      registered_tag: 'latest',
    });
    const second = await publisher.register(REPOSITORY, 'latest', 'second');
    expect(second).not.toBe(first);
    expect(await publisher.must('GET', `admin/app-artifacts/${first}`)).toEqual(artifact);
    // Publishing takes the reference, the digest alone, and no other place of the same digest.
    await publisher.publish('by-ref', '1', String(artifact['artifact_ref']));
    await publisher.publish('by-digest', '1', first);
    const elsewhere = shellManifest('true', {
      artifact_ref: `127.0.0.1:1/system/other@${first}`,
      artifact_format: 'file',
    });
    const refused = await publisher.ask('POST', 'admin/app-manifests/elsewhere/versions', elsewhere);
    expect(refused).toMatchObject({ status: 422, body: { code: 'artifact_unknown' } });
    expect((await publisher.activate('by-ref', '1')).body).toMatchObject({
      version: { artifact_ref: artifact['artifact_ref'], state: 'active' },
    });
  });

  it('moves with an audit row that has the actor, both states and the reason', async () => {
    const digest = await publisher.register(REPOSITORY, 'audited', 'audited');
    await publisher.publish('audited', '1', digest);
    for (const [verb, more] of [
      ['stage', {}],
      ['promote', { to: 'canary' }],
      ['roll-back', {}],
      ['promote', { to: 'canary' }],
      ['promote', { to: 'active' }],
      ['deprecate', {}],
    ] as const)
      expect((await publisher.move(digest, verb, more)).status, verb).toBe(200);
    expect((await publisher.move(digest, 'retire')).body).toMatchObject({ code: 'artifact_grace_period' });
    await publisher.policy('apps.artifact_grace_seconds', 0);
    expect((await publisher.move(digest, 'retire')).status).toBe(200);
    const rows = await publisher.api.services.db
      .selectFrom('audit_logs')
      .select(['action', 'before', 'after', 'detail', 'actor_user_id'])
      .where('target_id', '=', digest)
      .where('result', '=', 'succeeded')
      .where('action', '<>', 'app_artifact.register')
      .orderBy('id')
      .execute();
    expect(rows.map(({ before, after }) => [before, after])).toEqual(
      [
        ['draft', 'staged'],
        ['staged', 'canary'],
        ['canary', 'staged'],
        ['staged', 'canary'],
        ['canary', 'active'],
        ['active', 'deprecated'],
        ['deprecated', 'retired'],
      ].map(([before, after]) => [{ state: before }, { state: after }]),
    );
    expect(rows.every((row) => row.actor_user_id !== null)).toBe(true);
    expect(rows.every(({ detail }) => JSON.stringify(detail).includes('In a test'))).toBe(true);
  });

  it('is promoted through every state by an activation, with an audit row for each', async () => {
    const digest = await publisher.register(REPOSITORY, 'walked', 'walked');
    await publisher.publish('walked', '1', digest);
    expect((await publisher.activate('walked', '1')).status).toBe(200);
    expect(await publisher.stateOf(digest)).toBe('active');
    const rows = await publisher.api.services.db
      .selectFrom('audit_logs')
      .select(['before', 'after'])
      .where('target_id', '=', digest)
      .where('action', '=', 'app_artifact.move')
      .orderBy('id')
      .execute();
    expect(rows.map(({ after }) => after)).toEqual([
      { state: 'staged' },
      { state: 'canary' },
      { state: 'active' },
    ]);
  });

  it('is not staged without a version, with a secret in its environment, or when it is too large', async () => {
    const digest = await publisher.register(REPOSITORY, 'linted', 'linted payload');
    expect((await publisher.move(digest, 'stage')).body).toMatchObject({ code: 'artifact_lint_failed' });
    const leaking = shellManifest('true', {
      artifact_ref: digest,
      artifact_format: 'file',
      runtime: { env: [{ name: 'API_TOKEN', value: 'hunter2' }] },
    });
    expect(await publisher.ask('POST', 'admin/app-manifests/linted/versions', leaking)).toMatchObject({
      status: 422,
      body: { code: 'app_manifest_invalid' },
    });
    await publisher.publish('linted', '1', digest);
    // A version that was published before the rule.
    await publisher.api.services.db
      .updateTable('app_manifest_versions')
      .set({ runtime_profile: JSON.stringify(leaking.runtime_profile) })
      .where('slug', '=', 'linted')
      .execute();
    expect((await publisher.move(digest, 'stage')).body).toMatchObject({ code: 'artifact_lint_failed' });
    expect((await publisher.activate('linted', '1')).body).toMatchObject({ code: 'artifact_lint_failed' });
    expect(await publisher.stateOf(digest)).toBe('draft');
    const large = await publisher.register(REPOSITORY, 'large', 'x'.repeat(2000));
    await publisher.publish('large', '1', large);
    await publisher.policy('apps.max_artifact_bytes', 1024);
    expect((await publisher.move(large, 'stage')).body).toMatchObject({ code: 'artifact_lint_failed' });
    await publisher.policy('apps.max_artifact_bytes', 536_870_912);
    expect((await publisher.move(large, 'stage')).status).toBe(200);
  });

  it('is not staged without a bill of materials where the policy demands one', async () => {
    const digest = await publisher.register(REPOSITORY, 'billed', 'billed payload');
    await publisher.publish('billed', '1', digest);
    await publisher.policy('apps.sbom_required', true);
    try {
      expect((await publisher.move(digest, 'stage')).body).toMatchObject({
        code: 'artifact_lint_failed',
        errors: [{ pointer: '/sbom' }],
      });
      const bill = '{"spdxVersion":"SPDX-2.3"}';
      await publisher.registry.pushBlob(REPOSITORY, bill);
      const subject = { mediaType: OCI_MANIFEST, digest, size: 1 };
      const artifactType = 'application/spdx+json';
      const referrer = imageOf(bill, { artifactType, subject, layers: [descriptorOf(bill, artifactType)] });
      await expectStatus(await publisher.registry.putManifest(REPOSITORY, 'bill', referrer), 201);
      expect((await publisher.move(digest, 'stage')).status).toBe(200);
    } finally {
      await publisher.policy('apps.sbom_required', false);
    }
  });

  it('with several layers, or that nobody pushed, is not registered', async () => {
    const missing = { repository: 'system/nothing', reference: 'v1' };
    expect((await publisher.ask('POST', 'admin/app-artifacts', missing)).body).toMatchObject({
      code: 'artifact_unknown',
    });
    const { registry } = publisher;
    await registry.pushImage(REPOSITORY, 'layered', 'one');
    const manifest: { layers: object[] } = JSON.parse(
      await (await registry.send('GET', `/v2/${REPOSITORY}/manifests/layered`)).text(),
    );
    manifest.layers.push(manifest.layers[0]!);
    await registry.putManifest(REPOSITORY, 'layered', manifest);
    const layered = { repository: REPOSITORY, reference: 'layered' };
    expect((await publisher.ask('POST', 'admin/app-artifacts', layered)).body).toMatchObject({
      code: 'artifact_unsupported',
    });
  });
});

describe('an upload', () => {
  const put = async (content: string, kind = 'script'): Promise<Record<string, unknown>> => {
    const path = `/api/v1/admin/app-artifacts/${digestOf(content)}?kind=${kind}`;
    const authorization = `Bearer ${publisher.api.people['operator']!.apiKey}`;
    const type = 'application/octet-stream';
    const headers = { authorization, 'content-type': type };
    const answer = await publisher.registry.send('PUT', path, content, headers);
    await expectStatus(answer, 200);
    return (await answer.json()) as Record<string, unknown>;
  };

  it('is an OCI artifact with a media type of its kind, the same however often it is sent', async () => {
    const content = '#!/bin/sh\necho uploaded\n';
    const script = await put(content);
    const mediaType = 'application/vnd.gpuaas.script.v1';
    expect(script).toMatchObject({
      artifact_ref: `127.0.0.1:1/system/uploads@${String(script['digest'])}`,
      payload_digest: digestOf(content),
      media_type: mediaType,
      state: 'draft',
    });
    const manifest = await publisher.registry.send(
      'GET',
      `/v2/system/uploads/manifests/${String(script['digest'])}`,
    );
    const text = await manifest.text();
    expect(digestOf(text)).toBe(script['digest']);
    expect(JSON.parse(text)).toMatchObject({
      artifactType: mediaType,
      layers: [{ mediaType, digest: digestOf(content), size: content.length }],
    });
    const pulled = await publisher.registry.send('GET', `/v2/system/uploads/blobs/${digestOf(content)}`);
    expect(await pulled.text()).toBe(content);
    expect(await put(content)).toEqual(script);
    const weights = await put(content, 'weights');
    expect(weights).toMatchObject({ media_type: 'application/vnd.gpuaas.weights.v1' });
    expect(weights['digest']).not.toBe(script['digest']);
  });

  it('leaves the registry when it is retired', async () => {
    const digest = String((await put('retired payload', 'dataset'))['digest']);
    await publisher.publish('retired-upload', '1', digest);
    await publisher.policy('apps.artifact_grace_seconds', 0);
    for (const [verb, more] of [
      ['stage', {}],
      ['promote', { to: 'canary' }],
      ['promote', { to: 'active' }],
      ['deprecate', {}],
      ['retire', {}],
    ] as const)
      expect((await publisher.move(digest, verb, more)).status, verb).toBe(200);
    const gone = await publisher.registry.send('GET', `/v2/system/uploads/manifests/${digest}`);
    expect(gone.status).toBe(404);
  });
});

describe('the database', () => {
  it('has the arrows of the code and refuses every other move', async () => {
    const { db } = publisher.api.services;
    for (const from of states) {
      const digest = await insertDraft();
      for (const state of pathTo(from))
        await db.updateTable('app_artifacts').set({ state }).where('digest', '=', digest).execute();
      for (const to of states.filter((state) => state !== from)) {
        const moved = db
          .transaction()
          .execute(async (tx) => {
            await tx.updateTable('app_artifacts').set({ state: to }).where('digest', '=', digest).execute();
            throw new Error('rolled back');
          })
          .catch((error: Error) => error.message);
        const expected = canMove(from, to) ? /^rolled back$/ : /cannot move from/;
        expect(await moved, `${from} ${to}`).toMatch(expected);
      }
    }
    const active = db.insertInto('app_artifacts').values({ ...draft(), state: 'active' });
    await expect(active.execute()).rejects.toThrow(/not as draft/);
  });

  it('keeps an active version on an active artifact, and a used one from retirement', async () => {
    const { db } = publisher.api.services;
    const set = (state: ArtifactState) =>
      db.updateTable('app_artifacts').set({ state }).where('digest', '=', digest).execute();
    const digest = await publisher.register(REPOSITORY, 'held', 'held');
    await publisher.publish('held', '1', digest);
    const offer = (state: 'draft' | 'active') =>
      db.updateTable('app_manifest_versions').set({ state }).where('slug', '=', 'held').execute();
    await expect(offer('active')).rejects.toThrow(/its artifact draft/);
    expect((await publisher.activate('held', '1')).status).toBe(200);
    await expect(set('deprecated')).rejects.toThrow(/version that is offered/);
    const { body: instance } = await publisher.launch('held');
    expect(instance).toMatchObject({ status: 'created', app_version: '1' });
    await publisher.must('POST', 'admin/app-manifests/held/withdraw');
    await set('deprecated');
    await expect(set('retired')).rejects.toThrow(/has not ended uses/);
    const another = sql`insert into app_instances (id, organization_id, project_id, app_slug, app_version, kind, name,
        bound_capacity_shape, allocation_id, parameters, env, correlation_id, created_by, created_by_name)
      select ${newId()}, organization_id, project_id, app_slug, app_version, kind, name, bound_capacity_shape,
        allocation_id, parameters, env, correlation_id, created_by, created_by_name
      from app_instances where id = ${instance['id']}`;
    await expect(another.execute(db)).rejects.toThrow(/takes no new instances/);
    await publisher.stop(instance['id']);
    await set('retired');
  });

  it('maps the payloads of an earlier release', async () => {
    const [used, unused] = [digestOf('used'), digestOf('unused')];
    const older = await openOlderDatabase(
      '0210_registry',
      `insert into app_artifacts (id, digest, bytes, state, uploaded_by, uploaded_by_name) values
         ('${newId()}', '${used}', 1, 'active', '${newId()}', 'n'), ('${newId()}', '${unused}', 1, 'draft', '${newId()}', 'n');
       insert into app_manifests (slug, display_name) values ('old', 'n');
       insert into app_manifest_versions (slug, version, state, display_name, description, kind, artifact_kind, artifact_ref,
           artifact_format, compatibility, runtime_profile, parameters, secrets, platform_access, cors_origins,
           published_by, published_by_name)
         values ('old', '1', 'active', 'n', '', 'job', 'launchable', '${used}', 'file', '{}', '{}', '[]', '{}', '{}', '{}',
           '${newId()}', 'n');
       update app_manifests set version = '1', active = true`,
    );
    try {
      await migrate(older.url);
      const database = openDatabase(older.url, { max: 1 });
      try {
        const rows = await database.db
          .selectFrom('app_artifacts')
          .select(['digest', 'payload_digest', 'repository', 'state', 'trust_verdict'])
          .execute();
        expect(rows.toSorted((a, b) => a.state.localeCompare(b.state))).toEqual([
          {
            digest: used,
            payload_digest: used,
            repository: null,
            state: 'active',
            trust_verdict: 'unsigned',
          },
          {
            digest: unused,
            payload_digest: unused,
            repository: null,
            state: 'draft',
            trust_verdict: 'unsigned',
          },
        ]);
      } finally {
        await database.close();
      }
    } finally {
      await older.end();
    }
  });
});

function draft() {
  const digest = digestOf(newId());
  return {
    id: newId(),
    digest,
    payload_digest: digest,
    bytes: 1n,
    state_reason: 'test',
    smoke_waiver: 'test',
    uploaded_by: newId(),
    uploaded_by_name: 'test',
  };
}

async function insertDraft(): Promise<string> {
  const row = draft();
  await publisher.api.services.db.insertInto('app_artifacts').values(row).execute();
  return row.digest;
}

/** States between draft and another, which the arrows lead through. */
function pathTo(target: ArtifactState): ArtifactState[] {
  const order: ArtifactState[] = ['draft', 'staged', 'canary', 'active', 'deprecated', 'retired'];
  return order.slice(1, order.indexOf(target) + 1);
}
