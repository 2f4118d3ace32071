import { Menu } from '@base-ui/react/menu';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { BookOpen, ChevronsUpDown, LogOut } from 'lucide-react';
import { signOut } from '../api/me.ts';
import type { Me } from '../api/types.ts';
import { OWN_PAGES } from './navigation/own-pages.ts';
import { MENU_ITEM_CLASS, MENU_POPUP_CLASS } from '../ui/actions/menu-class.ts';

/** The person's own pages, and the way out. */
export function UserMenu({ me }: { me: Me }) {
  const { name, email } = me.user ?? { name: '', email: '' };
  const navigate = useNavigate();
  const leave = useMutation({ mutationFn: signOut });
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger className="flex items-center gap-2.5 rounded-md px-2 py-1.5 text-left hover:bg-hover">
        <span
          aria-hidden
          className="flex size-7 shrink-0 items-center justify-center rounded-full bg-accent-wash text-xs font-semibold text-accent-text"
        >
          {initials(name)}
        </span>
        <span className="sr-only">Account menu of</span>
        <span className="flex min-w-0 flex-1 flex-col">
          <span className="truncate text-sm font-medium">{name}</span>
          <span className="truncate text-xs text-ink-faint">{email}</span>
        </span>
        <ChevronsUpDown aria-hidden className="size-3.5 shrink-0 text-ink-faint" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} align="start" className="z-50">
          <Menu.Popup className={MENU_POPUP_CLASS}>
            {OWN_PAGES.map(({ to, label, icon: Icon }) => (
              <Menu.Item key={to} className={MENU_ITEM_CLASS} onClick={() => void navigate({ to })}>
                <Icon aria-hidden className="size-4 text-ink-faint" />
                {label}
              </Menu.Item>
            ))}
            <Menu.Item className={MENU_ITEM_CLASS} onClick={() => window.open('/docs', '_blank', 'noopener')}>
              <BookOpen aria-hidden className="size-4 text-ink-faint" />
              API reference
            </Menu.Item>
            <Menu.Separator className="my-1 border-t border-line" />
            <Menu.Item className={MENU_ITEM_CLASS} closeOnClick={false} onClick={() => leave.mutate()}>
              <LogOut aria-hidden className="size-4 text-ink-faint" />
              {leave.isError ? 'Could not sign out, try again' : 'Sign out'}
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

function initials(name: string): string {
  const words = name.split(/\s+/).filter(Boolean);
  return (words.length > 1 ? [words[0], words.at(-1)] : words)
    .map((word) => word?.charAt(0).toUpperCase())
    .join('');
}
