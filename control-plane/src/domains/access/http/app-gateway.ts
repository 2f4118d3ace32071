import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { networkOf } from '../../../platform/http/admission/client-network.ts';
import { policyRateLimits, RateLimiter } from '../../../platform/http/admission/rate-limits.ts';
import { Problem } from '../../../platform/http/problem.ts';
import type { Services } from '../../../platform/services.ts';
import type { StreamMetrics } from '../../../platform/telemetry/stream-metrics.ts';
import type { AccessWatch } from '../access-watch.ts';
import { GuestUnreachableError } from '../tunnel/guest-unreachable.ts';
import type { TunnelHub } from '../tunnel/tunnel-hub.ts';
import { appNotRunning, problemOf, refuse, refuseSocket, unauthenticated } from './refuse.ts';
import { appOrigin, type AppsSite } from './app-host.ts';
import type { App } from './app.ts';
import type { AppDirectory } from './app-directory.ts';
import { ANYBODY, isPublic } from './app-door.ts';
import { AppVisits, type AppHolder, type AppVisit } from './app-visits.ts';
import { forwardRequest } from './forward-request.ts';
import { forwardUpgrade } from './forward-upgrade.ts';
import { headersToGuest } from './forwarded-headers.ts';
import type { RequestMeter } from './request-meter.ts';
import { holderOf, type ShownCredential } from './shown-credential.ts';

export interface AppGatewayParts {
  services: Services;
  hub: TunnelHub;
  apps: AppDirectory;
  watch: AccessWatch;
  metrics: StreamMetrics;
  meter: RequestMeter;
  site: AppsSite;
  addressOf(request: IncomingMessage): string;
}

/** A request that is for an app, with what it shows of its sender. */
export interface AppRequest {
  label: string;
  shown: ShownCredential;
  /** Request target at the guest. */
  path: string;
  /** Headers of the guest's answer that the client gets. */
  toClient(raw: readonly string[], app: App): string[];
}

/** Carries requests of known senders into apps; the doors in front of it decide which credentials they take. */
export class AppGateway {
  readonly parts: AppGatewayParts;
  readonly #visits: AppVisits;
  readonly #failures: RateLimiter;
  readonly #anonymous: RateLimiter;
  /** With the port, unless it is the scheme's own. */
  readonly #domain: string;

  constructor(parts: AppGatewayParts) {
    this.parts = parts;
    this.#visits = new AppVisits(parts);
    this.#domain = new URL(appOrigin(parts.site, 'x')).host.slice('x.'.length);
    const { policies } = parts.services;
    const limits = policyRateLimits(policies);
    this.#failures = new RateLimiter('failed_authentication', () => limits.failed_authentication);
    this.#anonymous = new RateLimiter('anonymous', () => ({
      burst: policies.get('apps.anonymous_burst'),
      perSecond: policies.get('apps.anonymous_per_second'),
    }));
  }

  async find(label: string): Promise<App> {
    const { apps, services } = this.parts;
    const app = await apps.byLabel(services.db, label);
    if (!app) throw new Problem('not_found', 'There is no app at this address.');
    return app;
  }

  async serve(asked: AppRequest, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const visit = await this.#enter(asked, request);
    if (response.destroyed) return;
    const cut = forwardRequest(request, response, {
      agent: visit.requests,
      headers: this.#toGuest(visit, request),
      path: asked.path,
      toClient: (raw) => asked.toClient(raw, visit.app),
      onAnswer: () => this.parts.meter.count(visit.app, visit.userId),
      onFailure: (error) => refuse(response, this.#failureOf(visit.app, error)),
    });
    response.once('close', visit.begin(cut));
  }

  async serveUpgrade(
    asked: AppRequest,
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ): Promise<void> {
    const visit = await this.#enter(asked, request);
    if (socket.destroyed) return;
    const cut = forwardUpgrade(socket, head, {
      agent: visit.upgrades,
      headers: this.#toGuest(visit, request),
      path: asked.path,
      toClient: (raw) => asked.toClient(raw, visit.app),
      onAnswer: () => this.parts.meter.count(visit.app, visit.userId),
      onFailure: (error) => refuseSocket(socket, this.#failureOf(visit.app, error)),
    });
    socket.once('close', visit.begin(cut));
  }

  async close(): Promise<void> {
    await this.#visits.close();
  }

  /** The visit of this credential. Rights are looked up when it opens, and watched while it lasts. */
  async #enter({ label, shown }: AppRequest, request: IncomingMessage): Promise<AppVisit> {
    if (shown.by === 'nothing') this.#limitAnonymous(label, request);
    const visit = await this.#visits.enter(this.#keyOf(label, shown, request), async () => {
      const app = await this.find(label);
      const holder = await holderOf(this.parts.services, label, shown);
      if (!holder || !this.#mayKnow(app, holder)) {
        if (shown.by === 'nothing') throw unauthenticated();
        this.limitFailures(request);
        throw new Problem('unauthenticated', 'The credential is not valid, or it has ended.');
      }
      if (app.phase !== 'running') throw appNotRunning();
      return { app, holder };
    });
    if (shown.by === 'cookie' && visit.actorId === null) this.#limitAnonymous(label, request);
    return visit;
  }

  /** Visitors without a sign-in share a visit if they come from one network. */
  #keyOf(label: string, shown: ShownCredential, request: IncomingMessage): string {
    return `${label} ${shown.by} ${shown.by === 'nothing' ? this.#networkOf(request) : shown.secret}`;
  }

  /** Whether a visitor without a sign-in may know of the app; anybody else is judged by their rights. */
  #mayKnow(app: App, { credential, actorId }: AppHolder): boolean {
    if (credential) return true;
    return actorId === ANYBODY ? isPublic(app, this.parts.services.policies) : app.links.has(actorId);
  }

  /** Throws `rate_limited` if the address has shown too many invalid secrets. */
  limitFailures(request: IncomingMessage): void {
    limit(this.#failures, this.#networkOf(request), 'Too many invalid credentials.');
  }

  #limitAnonymous(label: string, request: IncomingMessage): void {
    limit(this.#anonymous, `${label} ${this.#networkOf(request)}`, 'Too many requests without a sign-in.');
  }

  #networkOf(request: IncomingMessage): string {
    return networkOf(this.parts.addressOf(request));
  }

  #toGuest(visit: AppVisit, request: IncomingMessage): string[] {
    const { site } = this.parts;
    return headersToGuest(request.rawHeaders, {
      host: `${visit.app.label}.${this.#domain}`,
      scheme: site.scheme,
      clientAddress: this.parts.addressOf(request),
      actorId: visit.actorId,
    });
  }

  #failureOf(app: App, error: Error): Problem {
    this.parts.services.log.info(
      { app_instance_id: app.instanceId, reason: error.message },
      'app did not answer',
    );
    if (error instanceof GuestUnreachableError) return problemOf(error);
    return new Problem('guest_unreachable', 'The app closed the connection or sent an invalid answer.');
  }
}

function limit(limiter: RateLimiter, key: string, message: string): void {
  const { retryAfterSeconds } = limiter.take(key);
  if (retryAfterSeconds !== null) throw new Problem('rate_limited', message, { retryAfterSeconds });
}
