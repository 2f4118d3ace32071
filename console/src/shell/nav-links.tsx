import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Boxes, Rocket, Server, type LucideIcon } from 'lucide-react';
import { mayOnPlatform, projectsOf } from '../api/session.ts';
import type { Me } from '../api/types.ts';

interface NavLinksProps {
  me: Me;
  onFollow?: () => void;
}

export function NavLinks({ me, onFollow }: NavLinksProps) {
  const hasProject = projectsOf(me).length > 0;
  return (
    <nav aria-label="Main" className="flex flex-col gap-5">
      {hasProject && (
        <Section title="Project">
          <Item to="/allocations" icon={Boxes} onFollow={onFollow}>
            Allocations
          </Item>
          <Item to="/launch" icon={Rocket} onFollow={onFollow}>
            Launch
          </Item>
        </Section>
      )}
      {mayOnPlatform(me, 'fleet.read') && (
        <Section title="Operator">
          <Item to="/operator/nodes" icon={Server} onFollow={onFollow}>
            Nodes
          </Item>
        </Section>
      )}
    </nav>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <p className="px-2 pb-1 text-xs font-medium text-ink-faint">{title}</p>
      <ul className="flex flex-col gap-px">{children}</ul>
    </div>
  );
}

interface ItemProps {
  to: NonNullable<LinkProps['to']>;
  icon: LucideIcon;
  children: string;
  onFollow: (() => void) | undefined;
}

function Item({ to, icon: Icon, children, onFollow }: ItemProps) {
  return (
    <li>
      <Link
        to={to}
        onClick={onFollow}
        className="flex h-8 items-center gap-2.5 rounded-md px-2 text-sm"
        activeProps={{ className: 'bg-hover font-medium text-ink [&>svg]:text-accent-text' }}
        inactiveProps={{ className: 'text-ink-muted hover:bg-hover hover:text-ink' }}
        activeOptions={{ includeSearch: false }}
      >
        <Icon aria-hidden className="size-4" />
        {children}
      </Link>
    </li>
  );
}
