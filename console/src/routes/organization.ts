import { createRoute } from '@tanstack/react-router';
import { lazyPage } from './lazy-page.ts';
import { auditSearch, billingSearch, teamSearch, webhookSearch } from '../search-params.ts';
import { signedIn } from './signed-in.ts';

const members = createRoute({
  getParentRoute: () => signedIn,
  path: '/organization/members',
  component: lazyPage(() => import('../organization/members-page.tsx'), 'MembersPage'),
});

const teams = createRoute({
  getParentRoute: () => signedIn,
  path: '/organization/teams',
  validateSearch: teamSearch,
  component: lazyPage(() => import('../organization/teams-page.tsx'), 'TeamsPage'),
});

const access = createRoute({
  getParentRoute: () => signedIn,
  path: '/organization/permissions',
  component: lazyPage(() => import('../access/access-page.tsx'), 'AccessPage'),
});

const serviceAccounts = createRoute({
  getParentRoute: () => signedIn,
  path: '/organization/service-accounts',
  component: lazyPage(() => import('../organization/service-accounts-page.tsx'), 'ServiceAccountsPage'),
});

const webhooks = createRoute({
  getParentRoute: () => signedIn,
  path: '/organization/webhooks',
  validateSearch: webhookSearch,
  component: lazyPage(() => import('../webhooks/webhooks-page.tsx'), 'WebhooksPage'),
});

const audit = createRoute({
  getParentRoute: () => signedIn,
  path: '/organization/audit',
  validateSearch: auditSearch,
  component: lazyPage(() => import('../audit/organization-audit-page.tsx'), 'OrganizationAuditPage'),
});

const billing = createRoute({
  getParentRoute: () => signedIn,
  path: '/billing',
  validateSearch: billingSearch,
  component: lazyPage(() => import('../billing/billing-page.tsx'), 'BillingPage'),
});

const settings = createRoute({
  getParentRoute: () => signedIn,
  path: '/organization/settings',
  component: lazyPage(() => import('../settings/settings-page.tsx'), 'SettingsPage'),
});

export const organizationRoutes = [
  members,
  teams,
  access,
  serviceAccounts,
  webhooks,
  audit,
  billing,
  settings,
] as const;
