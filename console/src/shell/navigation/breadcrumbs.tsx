import { Link, useRouterState } from '@tanstack/react-router';
import { ChevronRight } from 'lucide-react';
import type { Here } from './where-is.ts';

/** The way to a page: its area, its group, and above a detail page the list. */
export function Breadcrumbs({ here }: { here: Here | null }) {
  const pathname = useRouterState({ select: ({ location }) => location.pathname });
  if (!here) return null;
  const { area, group, place } = here;
  const isDetail = pathname !== place.to;
  const names = [area.title, ...(group.title ? [group.title] : [])];
  return (
    <nav aria-label="Breadcrumb" className="mx-auto w-full max-w-7xl px-4 pt-4 sm:px-6">
      <ol className="flex flex-wrap items-center gap-1 text-xs text-ink-faint">
        {names.map((name) => (
          <li key={name} className="flex items-center gap-1">
            {name}
            <ChevronRight aria-hidden className="size-3" />
          </li>
        ))}
        <li className="flex items-center gap-1">
          {isDetail ? (
            <Link to={place.to} className="text-accent-text underline">
              {place.label}
            </Link>
          ) : (
            <span aria-current="page" className="text-ink-muted">
              {place.label}
            </span>
          )}
        </li>
      </ol>
    </nav>
  );
}
