import { Dialog } from '@base-ui/react/dialog';
import { Menu as MenuIcon, X } from 'lucide-react';
import { useState } from 'react';
import type { Me } from '../api/types.ts';
import { buttonClass } from '../ui/actions/button-class.ts';
import { NewMenu } from './navigation/new-menu.tsx';
import { NavLinks } from './nav-links.tsx';
import { ProjectMenu } from './project-menu.tsx';
import { ThemeSwitch } from './theme-switch.tsx';
import { UserMenu } from './user-menu.tsx';

/** The navigation on a phone. */
export function NavDrawer({ me }: { me: Me }) {
  const [open, setOpen] = useState(false);
  const iconButton = buttonClass({ variant: 'ghost', size: 'icon' });
  return (
    <Dialog.Root open={open} onOpenChange={setOpen}>
      <Dialog.Trigger aria-label="Open navigation" className={iconButton}>
        <MenuIcon aria-hidden className="size-5" />
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/55" />
        <Dialog.Popup className="fixed inset-y-0 left-0 z-50 flex w-72 flex-col gap-5 border-r border-line bg-surface px-3 py-3 outline-none">
          <div className="flex items-center justify-between pl-2">
            <Dialog.Title className="text-sm font-semibold">Navigation</Dialog.Title>
            <Dialog.Close aria-label="Close navigation" className={iconButton}>
              <X aria-hidden className="size-4" />
            </Dialog.Close>
          </div>
          <ProjectMenu />
          <NewMenu me={me} onFollow={() => setOpen(false)} />
          <NavLinks me={me} onFollow={() => setOpen(false)} />
          <div className="mt-auto flex flex-col gap-3">
            <div className="px-2">
              <ThemeSwitch />
            </div>
            <UserMenu me={me} />
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
