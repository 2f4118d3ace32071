import type { ReactNode } from 'react';

/** The key figures, side by side. */
export function Figures({ children }: { children: ReactNode }) {
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line md:grid-cols-4">
      {children}
    </dl>
  );
}

interface FigureProps {
  name: string;
  note: string;
  children: ReactNode;
}

export function Figure({ name, note, children }: FigureProps) {
  return (
    <div className="flex min-w-0 flex-col gap-0.5 bg-surface px-4 py-3">
      <dt className="text-xs text-ink-faint">{name}</dt>
      <dd className="flex min-w-0 flex-col">
        <span className="text-lg font-semibold tracking-tight tabular-nums">{children}</span>
        <span className="truncate text-xs text-ink-faint" title={note}>
          {note}
        </span>
      </dd>
    </div>
  );
}
