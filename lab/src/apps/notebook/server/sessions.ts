import { randomUUID } from 'node:crypto';
import { isRecord } from '@gpuaas/contracts/is-record';
import { AppRefusal } from '../../web/app-refusal.ts';
import type { Kernel } from './kernel.ts';
import type { Kernels } from './kernels.ts';

interface Session {
  id: string;
  path: string;
  name: string;
  type: string;
  kernelId: string;
}

const MAX_SESSIONS = 200;

/** A session joins a document to its kernel. */
export class Sessions {
  readonly #kernels: Kernels;
  readonly #sessions = new Map<string, Session>();

  constructor(kernels: Kernels) {
    this.#kernels = kernels;
  }

  list(): object[] {
    return this.#living().map((session) => this.#describe(session));
  }

  get(id: string): object {
    return this.#describe(this.#find(id));
  }

  /** The session of this path, or a new one. */
  open(fields: Readonly<Record<string, unknown>>, start: (name: unknown) => Kernel): object {
    const path = readText(fields, 'path', '');
    const known = this.#living().find((session) => session.path === path);
    if (known) return this.#describe(known);
    if (this.#sessions.size >= MAX_SESSIONS)
      throw new AppRefusal(503, 'too_many_sessions', 'Too many sessions are open.');
    const asked = isRecord(fields['kernel']) ? fields['kernel'] : {};
    const { id } = typeof asked['id'] === 'string' ? this.#kernels.get(asked['id']) : start(asked['name']);
    const session = {
      id: randomUUID(),
      path,
      name: readText(fields, 'name', ''),
      type: readText(fields, 'type', 'notebook'),
      kernelId: id,
    };
    this.#sessions.set(session.id, session);
    return this.#describe(session);
  }

  /** Another path, name, type or kernel. */
  async change(
    id: string,
    fields: Readonly<Record<string, unknown>>,
    start: (name: unknown) => Kernel,
  ): Promise<object> {
    const session = this.#find(id);
    const asked = fields['kernel'];
    const before = session.kernelId;
    if (isRecord(asked))
      session.kernelId =
        typeof asked['id'] === 'string' ? this.#kernels.get(asked['id']).id : start(asked['name']).id;
    session.path = readText(fields, 'path', session.path);
    session.name = readText(fields, 'name', session.name);
    session.type = readText(fields, 'type', session.type);
    const isUsed = this.#living().some(({ kernelId }) => kernelId === before);
    if (!isUsed && this.#kernels.find(before)) await this.#kernels.shutDown(before);
    return this.#describe(session);
  }

  async close(id: string): Promise<void> {
    const { kernelId } = this.#find(id);
    this.#sessions.delete(id);
    if (this.#kernels.find(kernelId)) await this.#kernels.shutDown(kernelId);
  }

  /** Without those whose kernel was shut down. */
  #living(): Session[] {
    for (const { id, kernelId } of this.#sessions.values())
      if (!this.#kernels.find(kernelId)) this.#sessions.delete(id);
    return [...this.#sessions.values()];
  }

  #find(id: string): Session {
    const session = this.#living().find((one) => one.id === id);
    if (!session) throw new AppRefusal(404, 'unknown_session', 'There is no such session.');
    return session;
  }

  #describe({ kernelId, ...session }: Session): object {
    const kernel = this.#kernels.get(kernelId).model;
    const notebook =
      session.type === 'notebook' ? { notebook: { path: session.path, name: session.name } } : {};
    return { ...session, kernel, ...notebook };
  }
}

function readText(fields: Readonly<Record<string, unknown>>, name: string, otherwise: string): string {
  const value = fields[name] ?? otherwise;
  if (typeof value !== 'string' || value.length > 1000)
    throw new AppRefusal(400, 'invalid_field', `${name} must be a string of at most 1000 characters.`);
  return value;
}
