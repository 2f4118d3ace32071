import { useEffect, type ReactNode } from 'react';

interface PageProps {
  title: string;
  /** Title of the browser tab, if it differs from the heading. */
  tabTitle?: string;
  /** Beside the heading: a state, a count. */
  aside?: ReactNode;
  subtitle?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

export function Page({ title, tabTitle, aside, subtitle, actions, children }: PageProps) {
  useDocumentTitle(tabTitle ?? title);
  return (
    <div className="mx-auto flex w-full max-w-7xl flex-col gap-5 px-4 py-6 sm:px-6">
      <header className="flex flex-wrap items-start justify-between gap-3">
        <div className="flex min-w-0 flex-col gap-1">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <h1 className="text-xl font-semibold tracking-tight break-words">{title}</h1>
            {aside}
          </div>
          {subtitle && <div className="text-sm text-ink-muted">{subtitle}</div>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

export function useDocumentTitle(title: string) {
  useEffect(() => {
    document.title = title === 'GPUaaS' ? title : `${title} · GPUaaS`;
  }, [title]);
}
