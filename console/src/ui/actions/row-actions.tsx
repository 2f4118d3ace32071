import type { ReactNode } from 'react';

/** Buttons at the end of a row, above the link that spans it. */
export function RowActions({ children }: { children: ReactNode }) {
  return (
    <span className="relative z-10 inline-flex justify-end gap-1.5 max-sm:flex-col max-sm:items-end">
      {children}
    </span>
  );
}
