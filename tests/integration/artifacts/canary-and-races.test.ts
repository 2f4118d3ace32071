import { takesCanary } from '@gpuaas/control-plane/domains/apps/catalog/canary-share';
import { admitWaiting } from '@gpuaas/control-plane/domains/apps/instances/admit-waiting';
import { servicesAsRole } from '@gpuaas/control-plane/platform/db/scope';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shellManifest } from '../../harness/apps/apps.ts';
import { Publisher, type Answer } from '../../harness/artifacts/publisher.ts';

let publisher: Publisher;
beforeAll(async () => {
  publisher = await Publisher.open();
  await publisher.policy('apps.artifact_grace_seconds', 0);
});
afterAll(() => publisher?.api.stop());

const REPOSITORY = 'system/apps/raced';

async function artifact(name: string): Promise<string> {
  return await publisher.register(REPOSITORY, name, `payload of ${name}`);
}

/** An app with an active version 1 and a draft. */
async function appOf(slug: string, next = '2'): Promise<{ first: string; second: string }> {
  const [first, second] = [await artifact(`${slug}-1`), await artifact(`${slug}-2`)];
  await publisher.publish(slug, '1', first);
  await publisher.publish(slug, next, second);
  expect((await publisher.activate(slug, '1')).status).toBe(200);
  return { first, second };
}

async function askGates(): Promise<void> {
  const services = servicesAsRole(publisher.api.services, 'gpuaas_worker');
  await admitWaiting.run(services, { start: new Date(), end: new Date() } as never);
}

const statuses = (answers: readonly Answer[]): number[] =>
  answers.map(({ status }) => status).toSorted((a, b) => a - b);

describe('a canary', () => {
  it('gets its share of the projects, which is raised in steps and ends with one call', async () => {
    const project = publisher.api.people['member']!.projectId!;
    const slug = 'shared-app';
    const isIn = (version: string, percent: number) => takesCanary({ slug, version, percent }, project);
    const version = Array.from({ length: 50 }, (_, n) => `2.${n}`).find((one) => !isIn(one, 50))!;
    const { second } = await appOf(slug, version);
    expect((await publisher.canary(slug, version, 50)).body).toMatchObject({
      state: 'canary',
      canary_percent: 50,
    });
    expect(await publisher.stateOf(second)).toBe('canary');
    const outside = await publisher.launch(slug);
    expect(outside.body).toMatchObject({ app_version: '1' });
    expect((await publisher.canary(slug, version, 100)).status).toBe(200);
    const inside = await publisher.launch(slug);
    expect(inside.body).toMatchObject({ app_version: version });
    expect((await publisher.canary(slug, version, 25)).body).toMatchObject({ code: 'app_canary_refused' });
    expect((await publisher.rollBack(slug)).body).toMatchObject({ version, state: 'draft' });
    expect(await publisher.stateOf(second)).toBe('staged');
    expect((await publisher.launch(slug)).body).toMatchObject({ app_version: '1' });
    expect((await publisher.rollBack(slug)).body).toMatchObject({ code: 'app_canary_refused' });
    // The one that waited with the canary is refused; the one with the active version waits on.
    await askGates();
    const shown = async (instance: Answer) =>
      (await publisher.ask('GET', `app-instances/${String(instance.body['id'])}`, undefined, 'member')).body;
    expect(await shown(inside)).toMatchObject({ status: 'failed', reason: 'rejected' });
    expect(await shown(outside)).toMatchObject({ status: 'created' });
  });

  it('takes the launch form of the active version, and becomes active by activation', async () => {
    const { second } = await appOf('form-app');
    const other = shellManifest('true', { version: '3', parameters: [{ name: 'steps', type: 'integer' }] });
    await publisher.must('POST', 'admin/app-manifests/form-app/versions', other);
    expect((await publisher.canary('form-app', '3', 10)).body).toMatchObject({ code: 'app_canary_refused' });
    expect((await publisher.canary('form-app', '1', 10)).body).toMatchObject({ code: 'app_canary_refused' });
    expect((await publisher.canary('form-app', '2', 10)).status).toBe(200);
    expect((await publisher.activate('form-app', '2')).body).toMatchObject({
      version: { version: '2', state: 'active', canary_percent: null },
    });
    expect(await publisher.stateOf(second)).toBe('active');
  });

  it('ends when another version is activated, or when the app is withdrawn', async () => {
    const { first, second } = await appOf('ended-app');
    await publisher.canary('ended-app', '2', 10);
    expect((await publisher.activate('ended-app', '1')).status).toBe(200);
    expect(await publisher.stateOf(second)).toBe('staged');
    await publisher.canary('ended-app', '2', 10);
    await publisher.must('POST', 'admin/app-manifests/ended-app/withdraw');
    expect([await publisher.stateOf(first), await publisher.stateOf(second)]).toEqual(['active', 'staged']);
  });
});

describe('of two that race', () => {
  it('one promoter wins, and the other learns the state', async () => {
    for (const round of [1, 2, 3]) {
      const { second } = await appOf(`promoters-${round}`);
      await publisher.move(second, 'stage');
      const both = [1, 2].map(() => publisher.move(second, 'promote', { to: 'canary' }));
      const answers = await Promise.all(both);
      expect(statuses(answers)).toEqual([200, 409]);
      expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({
        code: 'artifact_state',
        state: 'canary',
      });
      const opposite = await Promise.all([
        publisher.move(second, 'promote', { to: 'active' }),
        publisher.move(second, 'roll-back'),
      ]);
      expect(statuses(opposite)).toEqual([200, 409]);
      expect(await publisher.stateOf(second)).toBe(opposite[0].status === 200 ? 'active' : 'staged');
    }
  });

  it('a retirement sees the launch, or the launch gets the next version', async () => {
    for (const round of [1, 2, 3, 4]) {
      const slug = `retired-${round}`;
      const { first } = await appOf(slug);
      const replace = async () => {
        expect((await publisher.activate(slug, '2')).status).toBe(200);
        expect((await publisher.move(first, 'deprecate')).status).toBe(200);
        return await publisher.move(first, 'retire');
      };
      const [launched, retired] = await Promise.all([publisher.launch(slug), replace()]);
      expect(launched.status).toBe(202);
      if (launched.body['app_version'] === '1') {
        expect(retired).toMatchObject({ status: 409, body: { code: 'artifact_in_use' } });
        await publisher.stop(launched.body['id']);
        expect((await publisher.move(first, 'retire')).status).toBe(200);
      } else expect(retired.status).toBe(200);
    }
  });

  it('a roll-back comes before a launch or after it, and no launch gets the canary from then on', async () => {
    for (const round of [1, 2, 3]) {
      const slug = `rolled-${round}`;
      const { second } = await appOf(slug);
      expect((await publisher.canary(slug, '2', 100)).status).toBe(200);
      const [rolledBack, ...launches] = await Promise.all([
        publisher.move(second, 'roll-back'),
        ...[1, 2, 3].map(() => publisher.launch(slug)),
      ]);
      expect(rolledBack.status).toBe(200);
      expect(statuses(launches)).toEqual([202, 202, 202]);
      expect((await publisher.launch(slug)).body).toMatchObject({ app_version: '1' });
      await askGates();
      for (const { body } of launches) {
        const { body: now } = await publisher.ask(
          'GET',
          `app-instances/${String(body['id'])}`,
          undefined,
          'member',
        );
        expect(now).toMatchObject({ status: body['app_version'] === '2' ? 'failed' : 'created' });
      }
    }
  });
});
