import { Navigate, Outlet, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { useMe } from '../api/me.ts';
import { LiveEvents } from '../live/live-events.tsx';
import { CommandPaletteButton } from './command-palette-button.tsx';
import { LiveIndicator } from './live-indicator.tsx';
import { Logo } from './logo.tsx';
import { NavDrawer } from './nav-drawer.tsx';
import { NavLinks } from './nav-links.tsx';
import { OfflineBanner } from './offline-banner.tsx';
import { PrefetchPages } from './prefetch-pages.tsx';
import { ProjectMenu } from './project-menu.tsx';
import { ThemeSwitch } from './theme-switch.tsx';
import { UserMenu } from './user-menu.tsx';

/** The frame around every page of a signed-in person. */
export function AppShell() {
  const me = useMe();
  if (!me) return <ToLanding />;
  return (
    <div className="grid min-h-dvh grid-rows-[auto_1fr] md:grid-cols-[13.5rem_1fr] md:grid-rows-1">
      <LiveEvents />
      <PrefetchPages />
      <a
        href="#content"
        className="sr-only z-50 rounded-md bg-accent text-accent-ink focus:not-sr-only focus:absolute focus:top-2 focus:left-2 focus:px-3 focus:py-2"
      >
        Skip to content
      </a>
      <aside className="sticky top-0 hidden h-dvh flex-col gap-4 border-r border-line bg-surface px-3 py-4 md:flex">
        <div className="px-2">
          <Logo />
        </div>
        <ProjectMenu />
        <CommandPaletteButton me={me} />
        <NavLinks me={me} />
        <div className="mt-auto flex flex-col gap-3">
          <div className="flex items-center justify-between px-2">
            <LiveIndicator />
            <ThemeSwitch />
          </div>
          <UserMenu me={me} />
        </div>
      </aside>
      <header className="sticky top-0 z-30 flex items-center justify-between border-b border-line bg-surface px-3 py-2 md:hidden">
        <NavDrawer me={me} />
        <Logo />
        <LiveIndicator compact />
      </header>
      <main id="content" tabIndex={-1} className="min-w-0 outline-none">
        <OfflineBanner />
        <Outlet />
      </main>
    </div>
  );
}

/** The sign-in ended under the page. The address is read once: it changes as soon as we leave. */
function ToLanding() {
  const router = useRouter();
  const [here] = useState(() => router.state.location.href);
  return <Navigate to="/" search={{ return_to: here }} replace />;
}
