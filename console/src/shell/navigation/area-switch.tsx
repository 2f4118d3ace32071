import { Link } from '@tanstack/react-router';
import type { Area } from './areas.ts';

/** Project, Organization and Platform side by side; hidden for people with one area. */
export function AreaSwitch({ areas, current }: { areas: Area[]; current: Area | undefined }) {
  if (areas.length < 2) return null;
  return (
    <nav aria-label="Areas" className="flex rounded-md border border-line bg-sunken p-0.5 text-xs">
      {areas.map((area) => (
        <Link
          key={area.area}
          to={area.groups[0]?.places[0]?.to ?? '/'}
          aria-current={area.area === current?.area ? 'true' : undefined}
          className={`flex h-6 flex-1 items-center justify-center rounded px-1 ${
            area.area === current?.area
              ? 'bg-raised font-medium text-ink shadow-xs'
              : 'text-ink-muted hover:text-ink'
          }`}
        >
          {area.title}
        </Link>
      ))}
    </nav>
  );
}
