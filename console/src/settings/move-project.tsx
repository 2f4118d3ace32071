import { useState } from 'react';
import { useProjectDisabledReason } from '../api/me.ts';
import { moveProject } from '../api/organization/settings.ts';
import { organizationKeys } from '../api/query-keys.ts';
import type { ListedProject, Team } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { Button } from '../ui/actions/button.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { Select } from '../ui/forms/select.tsx';

/** Passes a project to another team. */
export function MoveProject({ project, teams }: { project: ListedProject; teams: Team[] }) {
  const [open, setOpen] = useState(false);
  const [teamId, setTeamId] = useState<string | null>(null);
  const others = teams.filter(({ id }) => id !== project.team_id);
  const refusal =
    useProjectDisabledReason(project.id, 'project.manage') ??
    (others.length > 0 ? null : 'There is no other team');
  const move = useRefreshingMutation({
    mutationFn: moveProject,
    refreshes: [organizationKeys.projects(project.organization_id)],
    onSuccess: () => {
      setOpen(false);
      setTeamId(null);
    },
  });
  return (
    <>
      <Button size="sm" disabledReason={refusal} onClick={() => setOpen(true)}>
        Move<span className="sr-only"> {project.name}</span>
      </Button>
      <FormDialog
        open={open}
        onClose={() => setOpen(false)}
        title={`Move ${project.name} to another team`}
        submitLabel="Move project"
        refusal={teamId ? null : 'Choose a team.'}
        busy={move.isPending}
        error={move.error}
        onSubmit={() => teamId && move.mutate({ id: project.id, teamId })}
      >
        <p className="text-sm text-ink-muted">
          The team owns the project and its resources. Rights in the project stay as they are.
        </p>
        <Select
          label="Team"
          value={teamId}
          placeholder="Choose a team"
          onChange={setTeamId}
          options={others.map(({ id, name }) => ({ value: id, label: name }))}
        />
      </FormDialog>
    </>
  );
}
