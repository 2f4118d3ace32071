import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';

interface EmptyStateProps {
  icon: LucideIcon;
  title: string;
  children: ReactNode;
  action?: ReactNode;
  /** `h1` if it is the whole page. */
  heading?: 'h1' | 'p';
}

export function EmptyState({ icon: Icon, title, children, action, heading: Title = 'p' }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-center gap-3 px-6 py-14 text-center">
      <span className="flex size-11 items-center justify-center rounded-lg border border-line bg-sunken text-ink-muted">
        <Icon aria-hidden className="size-5" />
      </span>
      <div className="flex flex-col gap-1">
        <Title className="text-base font-semibold">{title}</Title>
        <div className="max-w-md text-sm text-ink-muted">{children}</div>
      </div>
      {action}
    </div>
  );
}
