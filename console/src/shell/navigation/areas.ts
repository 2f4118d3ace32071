import type { LinkProps } from '@tanstack/react-router';
import {
  AppWindow,
  BadgeCheck,
  Bot,
  Boxes,
  Building2,
  CalendarClock,
  ChartColumn,
  Disc3,
  Eraser,
  FlaskConical,
  Gauge,
  Globe,
  Layers,
  LayoutGrid,
  ListChecks,
  Package,
  PlugZap,
  ScrollText,
  Server,
  ServerCog,
  Settings,
  ShieldCheck,
  Siren,
  SlidersHorizontal,
  Store,
  Tag,
  Users,
  UsersRound,
  Wallet,
  Waypoints,
  Webhook,
  type LucideIcon,
} from 'lucide-react';

export interface NavEntry {
  to: NonNullable<LinkProps['to']>;
  label: string;
  icon: LucideIcon;
  /** Permission needed to see it; everyone in the area when left out. */
  permission?: string;
  /** What waits there for somebody. */
  counts?: 'incidents' | 'quarantine';
}

export interface NavGroup {
  /** Null for pages that stand alone above the groups. */
  title: string | null;
  /** Where the permissions of its pages are held. */
  held: 'project' | 'organization' | 'anywhere' | 'platform';
  places: NavEntry[];
}

export type AreaName = 'project' | 'organization' | 'platform';

export interface Area {
  area: AreaName;
  title: string;
  groups: NavGroup[];
}

export const AREAS: Area[] = [
  {
    area: 'project',
    title: 'Project',
    groups: [
      { title: null, held: 'project', places: [{ to: '/overview', label: 'Overview', icon: Gauge }] },
      {
        title: 'Compute',
        held: 'project',
        places: [
          { to: '/allocations', label: 'Allocations', icon: Boxes },
          { to: '/capacity', label: 'Queue', icon: CalendarClock, permission: 'reservation.read' },
        ],
      },
      {
        title: 'Apps',
        held: 'project',
        places: [
          { to: '/workloads', label: 'Workloads', icon: AppWindow, permission: 'app_instance.read' },
          { to: '/apps', label: 'App catalog', icon: Store, permission: 'app_instance.read' },
        ],
      },
      {
        title: 'Settings',
        held: 'project',
        places: [
          {
            to: '/organization/service-accounts',
            label: 'Service accounts',
            icon: Bot,
            permission: 'service_account.read',
          },
          { to: '/organization/webhooks', label: 'Webhooks', icon: Webhook, permission: 'webhook.read' },
        ],
      },
    ],
  },
  {
    area: 'organization',
    title: 'Organization',
    groups: [
      {
        title: 'People and access',
        held: 'anywhere',
        places: [
          { to: '/organization/members', label: 'Members', icon: Users, permission: 'member.read' },
          { to: '/organization/teams', label: 'Teams', icon: UsersRound, permission: 'member.read' },
          {
            to: '/organization/permissions',
            label: 'Permissions',
            icon: ShieldCheck,
            permission: 'access.read',
          },
        ],
      },
      {
        title: 'Billing',
        held: 'organization',
        places: [{ to: '/billing', label: 'Balance and usage', icon: Wallet, permission: 'billing.read' }],
      },
      {
        title: 'Organization',
        held: 'anywhere',
        places: [
          {
            to: '/organization/audit',
            label: 'Audit log',
            icon: ScrollText,
            permission: 'tenant_audit.read',
          },
          {
            to: '/organization/settings',
            label: 'Settings',
            icon: Settings,
            permission: 'organization.read',
          },
        ],
      },
    ],
  },
  {
    area: 'platform',
    title: 'Platform',
    groups: [
      {
        title: null,
        held: 'platform',
        places: [
          {
            to: '/operator/incidents',
            label: 'Incidents',
            icon: Siren,
            permission: 'incident.read',
            counts: 'incidents',
          },
        ],
      },
      {
        title: 'Fleet',
        held: 'platform',
        places: [
          { to: '/operator/fleet', label: 'Fleet map', icon: LayoutGrid, permission: 'fleet.read' },
          { to: '/operator/nodes', label: 'Nodes', icon: Server, permission: 'fleet.read' },
          {
            to: '/operator/cleanup',
            label: 'Quarantine',
            icon: Eraser,
            permission: 'fleet.read',
            counts: 'quarantine',
          },
          { to: '/operator/tasks', label: 'Tasks', icon: ListChecks, permission: 'fleet.read' },
          { to: '/operator/placement', label: 'Placement', icon: Waypoints, permission: 'fleet.read' },
          { to: '/operator/utilisation', label: 'Utilisation', icon: ChartColumn, permission: 'fleet.read' },
        ],
      },
      {
        title: 'Supply',
        held: 'platform',
        places: [
          { to: '/operator/enrolments', label: 'Enrolments', icon: PlugZap, permission: 'fleet.read' },
          { to: '/operator/maas', label: 'MAAS', icon: ServerCog, permission: 'fleet.read' },
          { to: '/operator/authorities', label: 'Node CAs', icon: BadgeCheck, permission: 'fleet.read' },
        ],
      },
      {
        title: 'Catalog',
        held: 'platform',
        places: [
          { to: '/operator/products', label: 'Products', icon: Package, permission: 'catalog.manage' },
          { to: '/operator/prices', label: 'Prices', icon: Tag, permission: 'price.manage' },
          { to: '/operator/regions', label: 'Regions', icon: Globe, permission: 'catalog.manage' },
          { to: '/operator/images', label: 'Images', icon: Disc3, permission: 'catalog.manage' },
        ],
      },
      {
        title: 'Customers',
        held: 'platform',
        places: [
          { to: '/operator/tenants', label: 'Tenants', icon: Building2, permission: 'fleet.read' },
          { to: '/operator/allocations', label: 'All allocations', icon: Layers, permission: 'fleet.read' },
          { to: '/operator/people', label: 'People', icon: Users, permission: 'person.sign_out' },
        ],
      },
      {
        title: 'Rules',
        held: 'platform',
        places: [
          { to: '/operator/policies', label: 'Policies', icon: SlidersHorizontal, permission: 'policy.read' },
          { to: '/operator/audit', label: 'Audit log', icon: ScrollText, permission: 'audit.read' },
          { to: '/operator/lab', label: 'Lab', icon: FlaskConical, permission: 'lab.operate' },
        ],
      },
    ],
  },
];
