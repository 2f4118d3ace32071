import type { LinkProps } from '@tanstack/react-router';
import {
  BadgeCheck,
  Bell,
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
  KeyRound,
  KeySquare,
  Layers,
  LayoutGrid,
  ListChecks,
  MonitorSmartphone,
  Package,
  PlugZap,
  Rocket,
  ScrollText,
  Server,
  ServerCog,
  Settings,
  ShieldCheck,
  Siren,
  SlidersHorizontal,
  Tag,
  Users,
  UsersRound,
  Wallet,
  Waypoints,
  Webhook,
  type LucideIcon,
} from 'lucide-react';
import {
  hasOrganizationPermission,
  hasProjectPermission,
  hasPlatformPermission,
  type ProjectChoice,
} from '../api/me.ts';
import type { Me } from '../api/types.ts';

export interface NavEntry {
  to: NonNullable<LinkProps['to']>;
  label: string;
  icon: LucideIcon;
  /** Permission needed to see it; everyone when left out. */
  permission?: string;
}

interface Area {
  title: string;
  /** Where the permissions of its places are held. */
  held: 'project' | 'organization' | 'anywhere' | 'platform' | 'self';
  places: NavEntry[];
}

const AREAS: Area[] = [
  {
    title: 'Project',
    held: 'project',
    places: [
      { to: '/overview', label: 'Overview', icon: Gauge },
      { to: '/launch', label: 'Launch', icon: Rocket },
      { to: '/allocations', label: 'Allocations', icon: Boxes },
      {
        to: '/capacity',
        label: 'Queue',
        icon: CalendarClock,
        permission: 'reservation.read',
      },
      {
        to: '/organization/service-accounts',
        label: 'Service accounts',
        icon: Bot,
        permission: 'service_account.read',
      },
      { to: '/organization/webhooks', label: 'Webhooks', icon: Webhook, permission: 'webhook.read' },
    ],
  },
  {
    title: 'Organization',
    held: 'anywhere',
    places: [
      { to: '/organization/members', label: 'Members', icon: Users, permission: 'member.read' },
      { to: '/organization/teams', label: 'Teams', icon: UsersRound, permission: 'member.read' },
      { to: '/organization/permissions', label: 'Permissions', icon: ShieldCheck, permission: 'access.read' },
      { to: '/organization/audit', label: 'Audit log', icon: ScrollText, permission: 'tenant_audit.read' },
      { to: '/organization/settings', label: 'Settings', icon: Settings, permission: 'organization.read' },
    ],
  },
  {
    title: 'Billing',
    held: 'organization',
    places: [{ to: '/billing', label: 'Balance and usage', icon: Wallet, permission: 'billing.read' }],
  },
  {
    title: 'Fleet',
    held: 'platform',
    places: [
      { to: '/operator/fleet', label: 'Fleet map', icon: LayoutGrid, permission: 'fleet.read' },
      { to: '/operator/nodes', label: 'Nodes', icon: Server, permission: 'fleet.read' },
      { to: '/operator/incidents', label: 'Incidents', icon: Siren, permission: 'incident.read' },
      { to: '/operator/cleanup', label: 'Quarantine', icon: Eraser, permission: 'fleet.read' },
      { to: '/operator/tasks', label: 'Tasks', icon: ListChecks, permission: 'fleet.read' },
      { to: '/operator/placement', label: 'Placement', icon: Waypoints, permission: 'fleet.read' },
      { to: '/operator/enrolments', label: 'Enrolments', icon: PlugZap, permission: 'fleet.read' },
      { to: '/operator/maas', label: 'MAAS', icon: ServerCog, permission: 'fleet.read' },
      { to: '/operator/authorities', label: 'Node CAs', icon: BadgeCheck, permission: 'fleet.read' },
      { to: '/operator/lab', label: 'Lab', icon: FlaskConical, permission: 'lab.operate' },
    ],
  },
  {
    title: 'Business',
    held: 'platform',
    places: [
      { to: '/operator/utilisation', label: 'Utilisation', icon: ChartColumn, permission: 'fleet.read' },
      { to: '/operator/allocations', label: 'All allocations', icon: Layers, permission: 'fleet.read' },
      { to: '/operator/tenants', label: 'Tenants', icon: Building2, permission: 'fleet.read' },
      { to: '/operator/people', label: 'People', icon: Users, permission: 'person.sign_out' },
      { to: '/operator/products', label: 'Products', icon: Package, permission: 'catalog.manage' },
      { to: '/operator/prices', label: 'Prices', icon: Tag, permission: 'price.manage' },
      { to: '/operator/regions', label: 'Regions', icon: Globe, permission: 'catalog.manage' },
      { to: '/operator/images', label: 'Images', icon: Disc3, permission: 'catalog.manage' },
      { to: '/operator/policies', label: 'Policies', icon: SlidersHorizontal, permission: 'policy.read' },
      { to: '/operator/audit', label: 'Audit log', icon: ScrollText, permission: 'audit.read' },
    ],
  },
  {
    title: 'You',
    held: 'self',
    places: [
      { to: '/notifications', label: 'Notifications', icon: Bell },
      { to: '/api-keys', label: 'API keys', icon: KeySquare },
      { to: '/ssh-keys', label: 'SSH keys', icon: KeyRound },
      { to: '/sign-ins', label: 'Signed-in devices', icon: MonitorSmartphone },
    ],
  },
];

/**
 * The areas and pages that a person sees, in the order of the sidebar. The API decides what each may do
 * there.
 */
export function navigationFor(me: Me, choice: ProjectChoice | null): Area[] {
  return AREAS.map((area) => ({
    ...area,
    places: area.places.filter((place) => isShown(area.held, place, me, choice)),
  })).filter(({ places }) => places.length > 0);
}

function isShown(
  held: Area['held'],
  { permission }: NavEntry,
  me: Me,
  choice: ProjectChoice | null,
): boolean {
  if (held === 'self') return true;
  if (held === 'platform') return permission !== undefined && hasPlatformPermission(me, permission);
  if (!choice) return false;
  if (!permission) return true;
  if (held === 'project') return hasProjectPermission(me, choice.project.id, permission);
  return hasOrganizationPermission(me, choice.organization.id, permission, held);
}
