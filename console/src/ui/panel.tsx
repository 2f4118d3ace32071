import { useId, type ReactNode } from 'react';

interface PanelProps {
  title: string;
  /** Right of the title: a button, a count. */
  aside?: ReactNode;
  children: ReactNode;
  /** Tables reach to the panel's edge. */
  flush?: boolean;
}

export function Panel({ title, aside, children, flush }: PanelProps) {
  const titleId = useId();
  return (
    <section
      aria-labelledby={titleId}
      className="min-w-0 overflow-hidden rounded-lg border border-line bg-surface"
    >
      <header className="flex min-h-11 flex-wrap items-center justify-between gap-x-3 gap-y-1 border-b border-line px-4 py-1.5">
        <h2 id={titleId} className="text-sm font-semibold">
          {title}
        </h2>
        {aside}
      </header>
      <div className={flush ? '' : 'p-4'}>{children}</div>
    </section>
  );
}
