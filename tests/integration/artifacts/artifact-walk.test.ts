import { afterAll, beforeAll, expect, it } from 'vitest';
import { Publisher } from '../../harness/artifacts/publisher.ts';
import { SeededRandom } from '../../harness/seeded-random.ts';

let publisher: Publisher;
beforeAll(async () => {
  publisher = await Publisher.open();
  await publisher.policy('apps.artifact_grace_seconds', 0);
});
afterAll(() => publisher?.api.stop());

const VERSIONS = ['1', '2'] as const;
type Version = (typeof VERSIONS)[number];
type State = 'draft' | 'staged' | 'canary' | 'active' | 'deprecated' | 'retired';

/** What an app with two versions, each with its own artifact, should look like. */
class Model {
  readonly artifacts: Record<Version, State> = { '1': 'draft', '2': 'draft' };
  active: Version | null = null;
  canary: { version: Version; percent: number } | null = null;
  readonly live: Record<Version, unknown[]> = { '1': [], '2': [] };

  offered(version: Version): boolean {
    return this.active === version || this.canary?.version === version;
  }

  endCanary(): void {
    if (this.canary && this.artifacts[this.canary.version] === 'canary')
      this.artifacts[this.canary.version] = 'staged';
    this.canary = null;
  }
}

/** Each applies itself to the model if it should succeed, and says whether. */
const steps: Record<string, (model: Model, version: Version) => boolean> = {
  stage: (model, version) => move(model, version, ['draft'], 'staged'),
  toCanary: (model, version) => move(model, version, ['staged'], 'canary'),
  toActive: (model, version) => move(model, version, ['canary'], 'active'),
  rollBackArtifact(model, version) {
    if (!move(model, version, ['canary'], 'staged')) return false;
    if (model.canary?.version === version) model.canary = null;
    return true;
  },
  deprecate: (model, version) => !model.offered(version) && move(model, version, ['active'], 'deprecated'),
  retire: (model, version) =>
    model.live[version].length === 0 && move(model, version, ['deprecated'], 'retired'),
  activate(model, version) {
    if (['deprecated', 'retired'].includes(model.artifacts[version])) return false;
    if (model.canary?.version === version) model.canary = null;
    else model.endCanary();
    model.artifacts[version] = 'active';
    model.active = version;
    return true;
  },
  canary(model, version) {
    if (model.active === null || model.active === version) return false;
    if (['deprecated', 'retired'].includes(model.artifacts[version])) return false;
    if (model.canary) return false;
    if (model.artifacts[version] !== 'active') model.artifacts[version] = 'canary';
    model.canary = { version, percent: 100 };
    return true;
  },
  rollBack(model) {
    if (!model.canary) return false;
    model.endCanary();
    return true;
  },
  withdraw(model) {
    model.endCanary();
    model.active = null;
    return true;
  },
  launch: (model) => model.active !== null,
};

function move(model: Model, version: Version, from: State[], to: State): boolean {
  if (!from.includes(model.artifacts[version])) return false;
  model.artifacts[version] = to;
  return true;
}

it('an app and its artifacts stay as a model says through random promotions, launches and ends', async () => {
  const random = new SeededRandom(24);
  for (let round = 0; round < 4; round += 1) {
    const slug = `walk-${round}`;
    const model = new Model();
    const digests: Record<Version, string> = {
      '1': await publisher.register('system/walk', `${slug}-1`, `first of ${slug}`),
      '2': await publisher.register('system/walk', `${slug}-2`, `second of ${slug}`),
    };
    for (const version of VERSIONS) await publisher.publish(slug, version, digests[version]);
    const trail: string[] = [];
    for (let count = 0; count < 30; count += 1) {
      const name = random.pick(Object.keys(steps));
      const version = random.pick(VERSIONS);
      if (random.chance(0.15)) await endAll(model);
      const launched = model.canary?.version ?? model.active;
      const expected = steps[name]!(model, version);
      const { status, body } = await perform(name, slug, version, digests[version]);
      trail.push(`${name} ${version} ${status}`);
      expect(status < 300, `${trail.join(', ')}: ${JSON.stringify(body)}`).toBe(expected);
      expect(status, trail.join(', ')).toBeLessThan(500);
      if (name === 'launch' && expected && launched !== null) {
        expect(body['app_version'], trail.join(', ')).toBe(launched);
        model.live[launched].push(body['id']);
      }
      await compare(model, slug, digests, trail);
    }
    await endAll(model);
  }
});

async function perform(name: string, slug: string, version: Version, digest: string) {
  switch (name) {
    case 'stage':
      return await publisher.move(digest, 'stage');
    case 'toCanary':
      return await publisher.move(digest, 'promote', { to: 'canary' });
    case 'toActive':
      return await publisher.move(digest, 'promote', { to: 'active' });
    case 'rollBackArtifact':
      return await publisher.move(digest, 'roll-back');
    case 'deprecate':
    case 'retire':
      return await publisher.move(digest, name);
    case 'activate':
      return await publisher.activate(slug, version);
    case 'canary':
      return await publisher.canary(slug, version, 100);
    case 'rollBack':
      return await publisher.rollBack(slug);
    case 'withdraw':
      return await publisher.ask('POST', `admin/app-manifests/${slug}/withdraw`);
    default:
      return await publisher.launch(slug);
  }
}

async function endAll(model: Model): Promise<void> {
  for (const version of VERSIONS) for (const id of model.live[version].splice(0)) await publisher.stop(id);
}

async function compare(model: Model, slug: string, digests: Record<Version, string>, trail: string[]) {
  const rows = await publisher.api.services.db
    .selectFrom('app_manifest_versions as v')
    .innerJoin('app_artifacts as a', 'a.digest', 'v.artifact_ref')
    .select(['v.version', 'v.state', 'a.state as artifact', 'a.digest'])
    .where('v.slug', '=', slug)
    .orderBy('v.version')
    .execute();
  const wanted = VERSIONS.map((version) => ({
    version,
    state: model.active === version ? 'active' : model.canary?.version === version ? 'canary' : 'draft',
    artifact: model.artifacts[version],
    digest: digests[version],
  }));
  expect(rows, trail.join(', ')).toEqual(wanted);
}
