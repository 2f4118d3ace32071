import { Dialog } from '@base-ui/react/dialog';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useId, useState, type KeyboardEvent } from 'react';
import { allocationsQuery } from '../api/allocations/allocations.ts';
import { nodesQuery } from '../api/fleet/fleet.ts';
import { hasPlatformPermission, useProject, type ProjectChoice } from '../api/me.ts';
import { policiesQuery } from '../api/operations/policies.ts';
import type { Me, Policy } from '../api/types.ts';
import { commandsFor } from './commands.ts';
import { filterCommands } from './filter-commands.ts';

interface CommandPaletteProps {
  me: Me;
  onClose: () => void;
}

/** Goes to any page by a few letters. Arrow keys move in the list while the field keeps the focus. */
export function CommandPalette({ me, onClose }: CommandPaletteProps) {
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const id = useId();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const choice = useProject();
  const policies = usePaletteData(me, choice);
  const found = filterCommands(commandsFor(me, choice, queryClient, policies), typed);
  const chosen = Math.min(at, found.length - 1);
  const go = (index: number) => {
    const command = found[index];
    if (!command) return;
    onClose();
    void navigate(command.go);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setAt(Math.min(chosen + 1, found.length - 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(chosen - 1, 0));
    else if (event.key === 'Enter') go(chosen);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/55" />
        <Dialog.Popup className="fixed top-[12dvh] left-1/2 z-50 flex max-h-[70dvh] w-[min(36rem,calc(100vw-2rem))] -translate-x-1/2 flex-col overflow-hidden rounded-xl border border-line bg-raised shadow-pop">
          <Dialog.Title className="sr-only">Go to</Dialog.Title>
          <input
            role="combobox"
            aria-label="Go to"
            aria-expanded
            aria-controls={`${id}-list`}
            aria-activedescendant={found[chosen] ? `${id}-${chosen}` : undefined}
            placeholder="Go to a page, a project, an allocation, a host or a policy"
            autoComplete="off"
            spellCheck={false}
            value={typed}
            onChange={(event) => {
              setTyped(event.target.value);
              setAt(0);
            }}
            onKeyDown={onKeyDown}
            className="border-b border-line bg-transparent px-4 py-3 text-base outline-none placeholder:text-ink-faint"
          />
          <div id={`${id}-list`} role="listbox" aria-label="Pages" className="overflow-y-auto p-1.5">
            {found.map(({ label, hint, icon: Icon }, index) => (
              <div
                key={`${hint} ${label}`}
                id={`${id}-${index}`}
                role="option"
                aria-selected={index === chosen}
                ref={index === chosen ? keepInView : undefined}
                onClick={() => go(index)}
                onPointerMove={() => setAt(index)}
                className="flex cursor-pointer items-center gap-2.5 rounded-md px-2.5 py-2 text-sm aria-selected:bg-hover"
              >
                <Icon aria-hidden className="size-4 shrink-0 text-ink-faint" />
                <span className="min-w-0 flex-1 truncate">{label}</span>
                <span className="text-xs text-ink-faint">{hint}</span>
              </div>
            ))}
            {found.length === 0 && <p className="px-2.5 py-2 text-sm text-ink-muted">No matches</p>}
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Fetches what can be gone to: the project's allocations and, for operators, hosts and policies. */
function usePaletteData(me: Me, choice: ProjectChoice | null): Policy[] {
  useInfiniteQuery({ ...allocationsQuery(choice?.project.id ?? ''), enabled: choice !== null });
  useInfiniteQuery({ ...nodesQuery, enabled: hasPlatformPermission(me, 'fleet.read') });
  const seesPolicies = hasPlatformPermission(me, 'policy.read');
  return useQuery({ ...policiesQuery(undefined), enabled: seesPolicies }).data ?? [];
}

function keepInView(element: HTMLElement | null) {
  element?.scrollIntoView({ block: 'nearest' });
}
