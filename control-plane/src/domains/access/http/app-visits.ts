import type { Duplex } from 'node:stream';
import type { Services } from '../../../platform/services.ts';
import type { StreamMetrics } from '../../../platform/telemetry/stream-metrics.ts';
import type { AccessWatch, OpenAccess } from '../access-watch.ts';
import type { Visitor } from '../door.ts';
import { openGuestStream } from '../tunnel/open-guest-stream.ts';
import type { TunnelHub } from '../tunnel/tunnel-hub.ts';
import { anonymousAppDoor, appDoor } from './app-door.ts';
import type { App } from './app.ts';
import type { AppDirectory } from './app-directory.ts';
import { GuestAgent } from './guest-agent.ts';

/** A visit and its connections stay this long after the last request. */
const IDLE_MS = 30_000;

/** One credential in one app: its requests share a watch over rights and a pool of connections. */
export class AppVisit {
  readonly app: App;
  /** Null for a visitor who is not signed in. */
  readonly actorId: string | null;
  /** Null for a service account. */
  readonly userId: string | null;
  readonly requests: GuestAgent;
  readonly upgrades: GuestAgent;
  readonly #cuts = new Set<() => void>();
  readonly #onIdle: () => void;
  #idle: NodeJS.Timeout;

  constructor(app: App, holder: AppHolder, open: () => Promise<Duplex>, onIdle: () => void) {
    this.app = app;
    this.actorId = holder.credential ? holder.actorId : null;
    this.userId = holder.userId;
    this.requests = new GuestAgent(open);
    this.upgrades = new GuestAgent(open, { keepAlive: false });
    this.#onIdle = onIdle;
    this.#idle = setTimeout(onIdle, IDLE_MS);
  }

  /** Counts a request until the returned function is called; `cut` ends it early. */
  begin(cut: () => void): () => void {
    clearTimeout(this.#idle);
    this.#cuts.add(cut);
    return () => {
      this.#cuts.delete(cut);
      if (this.#cuts.size > 0) return;
      clearTimeout(this.#idle);
      this.#idle = setTimeout(this.#onIdle, IDLE_MS);
    };
  }

  end(): void {
    clearTimeout(this.#idle);
    for (const cut of [...this.#cuts]) cut();
    clearTimeout(this.#idle);
    this.requests.destroy();
    this.upgrades.destroy();
  }
}

/** Who holds a credential, as the gateway found it. */
export interface AppHolder extends Pick<Visitor, 'actorId' | 'credential'> {
  userId: string | null;
}

interface VisitParts {
  apps: AppDirectory;
  services: Services;
  hub: TunnelHub;
  watch: AccessWatch;
  metrics: StreamMetrics;
}

/** The visits of this process. Rights are checked when one opens and while it lasts. */
export class AppVisits {
  readonly #parts: VisitParts;
  readonly #visits = new Map<string, Promise<AppVisit>>();

  constructor(parts: VisitParts) {
    this.#parts = parts;
  }

  /** The open visit of the key, or a new one for whom `identify` finds. */
  async enter(key: string, identify: () => Promise<{ app: App; holder: AppHolder }>): Promise<AppVisit> {
    const known = this.#visits.get(key);
    if (known) return await known;
    const opening = identify().then(({ app, holder }) => this.#open(key, app, holder));
    this.#visits.set(key, opening);
    try {
      return await opening;
    } catch (error) {
      this.#forget(key, opening);
      throw error;
    }
  }

  async close(): Promise<void> {
    const open = [...this.#visits.values()];
    this.#visits.clear();
    for (const visit of await Promise.allSettled(open)) if (visit.status === 'fulfilled') visit.value.end();
  }

  async #open(key: string, { instanceId }: App, holder: AppHolder): Promise<AppVisit> {
    const { apps, watch, services } = this.#parts;
    let visit: AppVisit | null = null;
    let cut = false;
    const end = (): void => {
      cut = true;
      this.#visits.delete(key);
      visit?.end();
    };
    const visitor = { ...holder, subjectId: instanceId, correlationId: instanceId };
    const door = holder.credential ? appDoor(apps) : anonymousAppDoor(apps, services.policies);
    const access: OpenAccess<App> = await watch.enter(door, visitor, end);
    const app = access.subject;
    visit = new AppVisit(
      app,
      holder,
      () => this.#dial(app, holder.actorId),
      () => {
        access.close();
        end();
      },
    );
    if (cut) visit.end();
    return visit;
  }

  async #dial({ nodeId, allocationId, port }: App, actorId: string): Promise<Duplex> {
    const { services, hub, metrics } = this.#parts;
    try {
      const stream = await openGuestStream(services, hub, {
        nodeId,
        allocationId,
        actorId,
        port,
        carries: 'apps',
      });
      const metered = metrics.opened('app');
      stream.once('close', () => metered.close());
      return stream;
    } catch (error) {
      metrics.refused('app');
      throw error;
    }
  }

  #forget(key: string, opening: Promise<AppVisit>): void {
    if (this.#visits.get(key) === opening) this.#visits.delete(key);
  }
}
