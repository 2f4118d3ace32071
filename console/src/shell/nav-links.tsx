import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Bell, ChevronDown } from 'lucide-react';
import { unreadQuery } from '../api/account/notifications.ts';
import type { Me } from '../api/types.ts';
import { AreaSwitch } from './navigation/area-switch.tsx';
import type { NavEntry, NavGroup } from './navigation/areas.ts';
import { AttentionCount } from './navigation/attention-count.tsx';
import { useCurrentArea } from './navigation/use-current-area.ts';

interface NavLinksProps {
  me: Me;
  onFollow?: () => void;
}

/** The area that is open, in groups that fold. */
export function NavLinks({ me, onFollow }: NavLinksProps) {
  const { areas, current } = useCurrentArea(me);
  return (
    <>
      <AreaSwitch areas={areas} current={current} />
      <nav aria-label="Main" className="flex min-h-0 flex-1 flex-col gap-2">
        <div className="-mx-1 flex min-h-0 flex-1 flex-col gap-3 overflow-y-auto px-1">
          {current?.groups.map((group) => (
            <Group key={group.title ?? ''} group={group} onFollow={onFollow} />
          ))}
        </div>
        <ul className="border-t border-line pt-2">
          <NavItem place={{ to: '/notifications', label: 'Notifications', icon: Bell }} onFollow={onFollow} />
        </ul>
      </nav>
    </>
  );
}

function Group({
  group: { title, places },
  onFollow,
}: {
  group: NavGroup;
  onFollow: NavLinksProps['onFollow'];
}) {
  const list = (
    <ul className="flex flex-col gap-px">
      {places.map((place) => (
        <NavItem key={place.to} place={place} onFollow={onFollow} />
      ))}
    </ul>
  );
  if (title === null) return list;
  return (
    <details open className="group">
      <summary className="flex cursor-pointer items-center justify-between px-2 pb-1 text-xs font-medium text-ink-faint [&::-webkit-details-marker]:hidden">
        {title}
        <ChevronDown aria-hidden className="size-3 -rotate-90 group-open:rotate-0" />
      </summary>
      {list}
    </details>
  );
}

interface NavItemProps {
  place: NavEntry;
  onFollow: (() => void) | undefined;
}

function NavItem({ place: { to, icon: Icon, label, counts }, onFollow }: NavItemProps) {
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
        {counts && <AttentionCount counts={counts} />}
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
