import type { LinkProps } from '@tanstack/react-router';
import {
  Bot,
  Boxes,
  KeyRound,
  KeySquare,
  MonitorSmartphone,
  Rocket,
  ScrollText,
  Server,
  ShieldCheck,
  Users,
  UsersRound,
  Wallet,
  Webhook,
  type LucideIcon,
} from 'lucide-react';
import { mayInOrganization, mayInProject, mayOnPlatform, type ProjectChoice } from '../api/session.ts';
import type { Me } from '../api/types.ts';

export interface Place {
  to: NonNullable<LinkProps['to']>;
  label: string;
  icon: LucideIcon;
  /** Who is shown the way to it; everybody when left out. */
  permission?: string;
}

interface Area {
  title: string;
  /** Where the permissions of its places are held. */
  held: 'project' | 'organization' | 'anywhere' | 'platform' | 'self';
  places: Place[];
}

const AREAS: Area[] = [
  {
    title: 'Project',
    held: 'project',
    places: [
      { to: '/allocations', label: 'Allocations', icon: Boxes },
      { to: '/launch', label: 'Launch', icon: Rocket },
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
    ],
  },
  {
    title: 'Billing',
    held: 'organization',
    places: [{ to: '/billing', label: 'Balance and ledger', icon: Wallet, permission: 'billing.read' }],
  },
  {
    title: 'You',
    held: 'self',
    places: [
      { to: '/api-keys', label: 'API keys', icon: KeySquare },
      { to: '/ssh-keys', label: 'SSH keys', icon: KeyRound },
      { to: '/sessions', label: 'Sessions', icon: MonitorSmartphone },
    ],
  },
  {
    title: 'Operator',
    held: 'platform',
    places: [{ to: '/operator/nodes', label: 'Nodes', icon: Server, permission: 'fleet.read' }],
  },
];

/** The areas and places a person is shown, in the order of the sidebar. The API decides what each may do there. */
export function placesFor(me: Me, choice: ProjectChoice | null): Area[] {
  return AREAS.map((area) => ({
    ...area,
    places: area.places.filter((place) => isShown(area.held, place, me, choice)),
  })).filter(({ places }) => places.length > 0);
}

function isShown(held: Area['held'], { permission }: Place, me: Me, choice: ProjectChoice | null): boolean {
  if (held === 'self') return true;
  if (held === 'platform') return permission !== undefined && mayOnPlatform(me, permission);
  if (!choice) return false;
  if (!permission) return true;
  if (held === 'project') return mayInProject(me, choice.project.id, permission);
  return mayInOrganization(me, choice.organization.id, permission, held);
}
