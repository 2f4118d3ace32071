import { accessModule } from '../domains/access/module.ts';
import type { TerminalTokens } from '../domains/access/tokens/terminal-tokens.ts';
import type { TunnelHub } from '../domains/access/tunnel/tunnel-hub.ts';
import { allocationsModule } from '../domains/allocations/module.ts';
import { appsModule } from '../domains/apps/module.ts';
import { registryModule } from '../domains/apps/artifacts/registry/module.ts';
import { auditModule } from '../domains/audit/module.ts';
import type { ReleaseLeases } from '../domains/billing/funds/watch-balances.ts';
import { billingModule } from '../domains/billing/module.ts';
import { catalogModule } from '../domains/catalog/module.ts';
import type { Lab } from '../domains/fleet/lab/lab.ts';
import { fleetModule } from '../domains/fleet/module.ts';
import { incidentsModule } from '../domains/incidents/module.ts';
import type { OverdueSource } from '../domains/incidents/watch-deadlines.ts';
import { notificationsModule } from '../domains/notifications/module.ts';
import type { EmailOptions } from '../domains/notifications/notify-people.ts';
import { paymentsModule } from '../domains/payments/module.ts';
import type { PaymentProvider } from '../domains/payments/provider.ts';
import { policiesModule } from '../domains/policies/module.ts';
import { quotasModule } from '../domains/quotas/module.ts';
import { readModelsModule } from '../domains/read-models/module.ts';
import { reportsModule } from '../domains/reports/module.ts';
import type { IdentityProviderOptions } from '../domains/sign-in/identity-provider-routes.ts';
import { secretsModule } from '../domains/secrets/module.ts';
import { signInModule } from '../domains/sign-in/module.ts';
import type { SignInOptions } from '../domains/sign-in/routes.ts';
import { statementsModule } from '../domains/statements/module.ts';
import { tasksModule } from '../domains/tasks/module.ts';
import { tenancyModule } from '../domains/tenancy/module.ts';
import type { ClosingHook, ResourceOwner } from '../domains/tenancy/owned-resources.ts';
import { webhooksModule } from '../domains/webhooks/module.ts';
import type { Caller } from '../platform/auth/caller.ts';
import type { Retention } from '../platform/db/prune-expired.ts';
import type { Consumer } from '../platform/events/consumer.ts';
import type { Handler } from '../platform/http/operation.ts';
import type { ResourceLimit } from '../platform/http/resource-limits.ts';
import type { Services } from '../platform/services.ts';
import type { Tick } from '../platform/ticks/tick.ts';
import type { WorkflowDefinition } from '../platform/workflows/definition.ts';
import type { PlatformServices } from './domain-answers.ts';

/** Parts of the public API that routes of domains get. */
export interface ApiContext {
  services: PlatformServices;
  publicUrl: string;
  signIn: SignInOptions;
  identityProviders: IdentityProviderOptions;
  payments: { worker: Services; provider: PaymentProvider | null };
  gateway: { services: Services; hub: TunnelHub };
  terminalTokens: TerminalTokens;
  lab: Lab | null;
  owners: readonly ResourceOwner[];
  closing: readonly ClosingHook[];
}

/** Parts of a worker that ticks of domains get. */
export interface WorkerContext {
  paymentProvider: PaymentProvider | null;
  releaseLeases: ReleaseLeases;
  overdue: readonly OverdueSource[];
}

/** Parts of the event reader that consumers of domains get. */
export interface ConsumerContext {
  services: PlatformServices;
  email: EmailOptions | null;
}

type Routes = Record<string, Handler<never, Caller>>;

/** Contributions of a domain. Roles concatenate them; a domain names only those it has. */
export interface DomainModule {
  routes?(context: ApiContext): Routes;
  ticks?(context: WorkerContext): readonly Tick<PlatformServices>[];
  workflows?: readonly WorkflowDefinition<PlatformServices, never>[];
  consumers?(context: ConsumerContext): readonly Consumer[];
  owners?(services: PlatformServices): readonly ResourceOwner[];
  closing?: readonly ClosingHook[];
  overdue?: readonly OverdueSource[];
  retention?: readonly Retention[];
  limits?: readonly ResourceLimit[];
}

/** Every domain with a contribution. A new one is a line here. */
export const domainModules: readonly DomainModule[] = [
  tenancyModule,
  signInModule,
  billingModule,
  paymentsModule,
  statementsModule,
  reportsModule,
  catalogModule,
  quotasModule,
  tasksModule,
  fleetModule,
  allocationsModule,
  accessModule,
  appsModule,
  incidentsModule,
  policiesModule,
  auditModule,
  secretsModule,
  registryModule,
  webhooksModule,
  notificationsModule,
  readModelsModule,
];

export const domainLimits = domainModules.flatMap(({ limits = [] }) => limits);

/** Routes of all domains. Two handlers for one operation are an error, which would otherwise go unnoticed. */
export function domainRoutes(
  services: PlatformServices,
  context: Omit<ApiContext, 'services' | 'owners' | 'closing'>,
): Routes {
  const owners = domainModules.flatMap((module) => module.owners?.(services) ?? []);
  const closing = domainModules.flatMap((module) => module.closing ?? []);
  const routes: Routes = {};
  for (const module of domainModules)
    for (const [operation, handler] of Object.entries(
      module.routes?.({ ...context, services, owners, closing }) ?? {},
    )) {
      if (operation in routes) throw new Error(`two domains handle ${operation}`);
      routes[operation] = handler;
    }
  return routes;
}
