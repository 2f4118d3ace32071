import { Menu } from '@base-ui/react/menu';
import { useNavigate, type LinkProps } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import {
  hasOrganizationPermission,
  hasPlatformPermission,
  hasProjectPermission,
  useProject,
  type ProjectChoice,
} from '../../api/me.ts';
import type { Me } from '../../api/types.ts';
import { buttonClass } from '../../ui/actions/button-class.ts';
import { MENU_ITEM_CLASS, MENU_POPUP_CLASS } from '../../ui/actions/menu-class.ts';

interface Creatable {
  label: string;
  to: NonNullable<LinkProps['to']>;
  held: 'project' | 'organization' | 'platform' | 'self';
  permission?: string;
}

const CREATABLE: Creatable[] = [
  { label: 'Allocation', to: '/launch', held: 'project', permission: 'allocation.create' },
  { label: 'Workload', to: '/apps', held: 'project', permission: 'app_instance.create' },
  { label: 'Reservation', to: '/capacity', held: 'project', permission: 'reservation.manage' },
  {
    label: 'Service account',
    to: '/organization/service-accounts',
    held: 'project',
    permission: 'service_account.manage',
  },
  { label: 'Webhook', to: '/organization/webhooks', held: 'project', permission: 'webhook.manage' },
  { label: 'Member', to: '/organization/members', held: 'organization', permission: 'member.manage' },
  { label: 'Project', to: '/organization/settings', held: 'organization', permission: 'project.create' },
  { label: 'Budget', to: '/billing', held: 'organization', permission: 'budget.manage' },
  { label: 'API key', to: '/api-keys', held: 'self' },
  { label: 'SSH key', to: '/ssh-keys', held: 'self' },
  { label: 'Host', to: '/operator/enrolments', held: 'platform', permission: 'fleet.enrol' },
  { label: 'Price', to: '/operator/prices', held: 'platform', permission: 'price.manage' },
];

/** Everything that a person may create, from every page. */
export function NewMenu({ me, onFollow }: { me: Me; onFollow?: () => void }) {
  const choice = useProject();
  const navigate = useNavigate();
  const items = CREATABLE.filter((one) => mayCreate(one, me, choice));
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger className={`${buttonClass({ variant: 'primary' })} w-full justify-center`}>
        <Plus aria-hidden className="size-4" />
        New
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} align="start" className="z-50">
          <Menu.Popup className={MENU_POPUP_CLASS}>
            {items.map(({ label, to }) => (
              <Menu.Item
                key={label}
                className={MENU_ITEM_CLASS}
                onClick={() => {
                  onFollow?.();
                  void navigate({ to });
                }}
              >
                {label}
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

function mayCreate({ held, permission }: Creatable, me: Me, choice: ProjectChoice | null): boolean {
  if (permission === undefined) return true;
  if (held === 'platform') return hasPlatformPermission(me, permission);
  if (!choice) return false;
  return held === 'project'
    ? hasProjectPermission(me, choice.project.id, permission)
    : hasOrganizationPermission(me, choice.organization.id, permission);
}
