import { Menu } from '@base-ui/react/menu';
import { useNavigate } from '@tanstack/react-router';
import { Check, ChevronsUpDown } from 'lucide-react';
import { projectsOf, useMe, useProject, type ProjectChoice } from '../api/me.ts';
import { MENU_ITEM_CLASS, MENU_POPUP_CLASS } from '../ui/actions/menu-class.ts';

/** The current project; a menu when there are several. */
export function ProjectMenu() {
  const me = useMe();
  const current = useProject();
  if (!me || !current) return null;
  const choices = projectsOf(me);
  if (choices.length === 1) {
    return (
      <div className="rounded-md border border-line px-2.5 py-1.5">
        <ProjectName {...current} />
      </div>
    );
  }
  return <ProjectSwitch current={current} choices={choices} />;
}

function ProjectSwitch({ current, choices }: { current: ProjectChoice; choices: ProjectChoice[] }) {
  const navigate = useNavigate();
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger className="flex items-center justify-between gap-2 rounded-md border border-line px-2.5 py-1.5 text-left hover:bg-hover">
        <span className="sr-only">Switch project, now</span>
        <ProjectName {...current} />
        <ChevronsUpDown aria-hidden className="size-3.5 shrink-0 text-ink-faint" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} align="start" className="z-50">
          <Menu.Popup className={MENU_POPUP_CLASS}>
            <Menu.RadioGroup
              value={current.project.id}
              onValueChange={(project: string) => void navigate({ to: '/overview', search: { project } })}
            >
              {choices.map((choice) => (
                <Menu.RadioItem
                  key={choice.project.id}
                  value={choice.project.id}
                  closeOnClick
                  className={MENU_ITEM_CLASS}
                >
                  <span className="flex-1">
                    <ProjectName {...choice} />
                  </span>
                  <Menu.RadioItemIndicator>
                    <Check aria-hidden className="size-3.5 text-accent-text" />
                  </Menu.RadioItemIndicator>
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

function ProjectName({ project, organization }: ProjectChoice) {
  return (
    <span className="flex min-w-0 flex-col">
      <span className="truncate text-sm font-medium">{project.name}</span>
      <span className="truncate text-xs text-ink-faint">{organization.name}</span>
    </span>
  );
}
