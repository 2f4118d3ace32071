import { Search } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import type { Me } from '../api/types.ts';

const CommandPalette = lazy(async () => ({
  default: (await import('./command-palette.tsx')).CommandPalette,
}));

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** Opens the command palette, by click or by Ctrl/⌘ K from anywhere. */
export function CommandPaletteButton({ me }: { me: Me }) {
  const [open, setOpen] = useState(false);

  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(isMac ? event.metaKey : event.ctrlKey)) return;
      event.preventDefault();
      setOpen((now) => !now);
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);

  return (
    <>
      <button
        type="button"
        onClick={() => setOpen(true)}
        aria-keyshortcuts={isMac ? 'Meta+K' : 'Control+K'}
        className="flex h-8 items-center gap-2 rounded-md border border-line bg-sunken px-2.5 text-sm text-ink-faint hover:bg-hover"
      >
        <Search aria-hidden className="size-3.5" />
        <span className="flex-1 text-left">Go to</span>
        <kbd className="font-sans text-xs">{isMac ? '⌘ K' : 'Ctrl K'}</kbd>
      </button>
      {open && (
        <Suspense fallback={null}>
          <CommandPalette me={me} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
