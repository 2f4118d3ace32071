import type { AddressInfo } from 'node:net';
import { createTestApi, type TestApi } from '../api.ts';
import { seedAllocation } from '../../benchmarks/seed-allocation.ts';
import { shellManifest } from '../apps/apps.ts';
import { OciClient } from '../registry/oci-client.ts';

export interface Answer {
  status: number;
  body: Record<string, unknown>;
}

/** Says why, where an operation asks for it. */
export const REASON = { reason: 'In a test' };

/** The public API with an operator who publishes, and a member with an allocation on which apps wait. */
export class Publisher {
  readonly api: TestApi;
  readonly registry: OciClient;
  readonly allocationId: string;

  static async open(): Promise<Publisher> {
    const api = await createTestApi();
    await api.server.listen({ host: '127.0.0.1', port: 0 });
    const origin = `http://127.0.0.1:${(api.server.server.address() as AddressInfo).port}`;
    const allocationId = await seedAllocation(api.services.db, api.people['member']!);
    // Instances on it wait for capacity, so that each test decides when they end.
    await api.services.db
      .updateTable('allocations')
      .set({ state: 'provisioning' })
      .where('id', '=', allocationId)
      .execute();
    return new Publisher(api, new OciClient(origin, api.people['operator']!.apiKey), allocationId);
  }

  private constructor(api: TestApi, registry: OciClient, allocationId: string) {
    this.api = api;
    this.registry = registry;
    this.allocationId = allocationId;
  }

  async ask(
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    payload?: object,
    person = 'operator',
  ): Promise<Answer> {
    const answer = await this.api.server.inject({
      method,
      url: `/api/v1/${path}`,
      headers: { authorization: `Bearer ${this.api.people[person]!.apiKey}` },
      ...(payload === undefined ? {} : { payload }),
    });
    return { status: answer.statusCode, body: answer.json() };
  }

  /** A call that must succeed. */
  async must(method: 'GET' | 'POST' | 'PUT', path: string, payload?: object): Promise<Answer['body']> {
    const { status, body } = await this.ask(method, path, payload);
    if (status >= 300) throw new Error(`${method} ${path} answers ${status} ${JSON.stringify(body)}`);
    return body;
  }

  async policy(name: string, value: unknown): Promise<void> {
    await this.must('PUT', `admin/policies/${name}`, { value, reason: 'In a test' });
    await this.api.services.policies.refresh();
  }

  /** Pushes an artifact with one layer under a tag and registers it; its digest. */
  async register(repository: string, tag: string, payload: string): Promise<string> {
    await this.registry.pushImage(repository, tag, payload);
    const { digest } = await this.must('POST', 'admin/app-artifacts', { repository, reference: tag });
    return String(digest);
  }

  async publish(slug: string, version: string, artifact_ref: string | null): Promise<void> {
    const manifest = shellManifest('true', {
      version,
      ...(artifact_ref === null ? {} : { artifact_ref, artifact_format: 'file' as const }),
    });
    await this.must('POST', `admin/app-manifests/${slug}/versions`, manifest);
  }

  async activate(slug: string, version: string): Promise<Answer> {
    return await this.ask('POST', `admin/app-manifests/${slug}/versions/${version}/activate`);
  }

  async move(digest: string, verb: string, more: object = {}): Promise<Answer> {
    return await this.ask('POST', `admin/app-artifacts/${digest}/${verb}`, { ...REASON, ...more });
  }

  async canary(slug: string, version: string, percent: number): Promise<Answer> {
    return await this.ask('PUT', `admin/app-manifests/${slug}/canary`, { version, percent, ...REASON });
  }

  async rollBack(slug: string): Promise<Answer> {
    return await this.ask('POST', `admin/app-manifests/${slug}/roll-back`, REASON);
  }

  async stateOf(digest: string): Promise<string> {
    return String((await this.must('GET', `admin/app-artifacts/${digest}`))['state']);
  }

  async launch(slug: string): Promise<Answer> {
    const project_id = this.api.people['member']!.projectId;
    const request = { project_id, app_slug: slug, allocation_id: this.allocationId };
    return await this.ask('POST', 'app-instances', request, 'member');
  }

  async stop(instanceId: unknown): Promise<void> {
    await this.ask('POST', `app-instances/${String(instanceId)}/stop`, undefined, 'member');
  }
}
