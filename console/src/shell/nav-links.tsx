import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { unreadQuery } from '../api/account/notifications.ts';
import { useProject } from '../api/me.ts';
import type { Me } from '../api/types.ts';
import { navigationFor, type NavEntry } from './navigation.ts';

interface NavLinksProps {
  me: Me;
  onFollow?: () => void;
}

export function NavLinks({ me, onFollow }: NavLinksProps) {
  const areas = navigationFor(me, useProject());
  return (
    <nav aria-label="Main" className="-mx-1 flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto px-1">
      {areas.map(({ title, places }) => (
        <div key={title}>
          <p className="px-2 pb-1 text-xs font-medium text-ink-faint">{title}</p>
          <ul className="flex flex-col gap-px">
            {places.map((place) => (
              <NavItem key={place.to} place={place} onFollow={onFollow} />
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

interface NavItemProps {
  place: NavEntry;
  onFollow: (() => void) | undefined;
}

function NavItem({ place: { to, icon: Icon, label }, onFollow }: NavItemProps) {
  return (
    <li>
      <Link
        to={to}
        onClick={onFollow}
        className="flex h-7.5 items-center gap-2.5 rounded-md px-2 text-sm"
        activeProps={{ className: 'bg-hover font-medium text-ink [&>svg]:text-accent-text' }}
        inactiveProps={{ className: 'text-ink-muted hover:bg-hover hover:text-ink' }}
        activeOptions={{ includeSearch: false }}
      >
        <Icon aria-hidden className="size-4" />
        {label}
        {to === '/notifications' && <UnreadCount />}
      </Link>
    </li>
  );
}

/** Number of unread notifications; hidden at zero. */
function UnreadCount() {
  const { data: unread } = useQuery(unreadQuery);
  if (!unread) return null;
  return (
    <span className="ml-auto rounded-full bg-accent px-1.5 text-xs font-medium text-accent-ink tabular-nums">
      {unread > 99 ? '99+' : unread}
      <span className="sr-only"> unread</span>
    </span>
  );
}
