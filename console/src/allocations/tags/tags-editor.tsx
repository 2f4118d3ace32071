import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { setAllocationTags } from '../../api/allocations/allocations.ts';
import { allocationKeys } from '../../api/query-keys.ts';
import { useProjectDisabledReason } from '../../api/me.ts';
import type { Allocation } from '../../api/types.ts';
import { useRefreshingMutation } from '../../api/use-refreshing-mutation.ts';
import { Button } from '../../ui/actions/button.tsx';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { TagsField } from './tags-field.tsx';
import { parseTags, tagsError } from './tags.ts';

/** Purpose of a lease; each tag links to the leases that have it. */
export function TagsEditor({ allocation }: { allocation: Allocation }) {
  const { id, tags, project_id: projectId } = allocation;
  const [text, setText] = useState<string | null>(null);
  const refusal = useProjectDisabledReason(projectId, 'allocation.create');
  const queryClient = useQueryClient();
  const change = useRefreshingMutation({
    mutationFn: setAllocationTags,
    refreshes: [allocationKeys.lists],
    onSuccess: (tagged) => {
      queryClient.setQueryData(allocationKeys.one(id), tagged);
      setText(null);
    },
  });
  return (
    <span className="flex flex-wrap items-center gap-2">
      {tags.map((tag) => (
        <Link key={tag} to="/allocations" search={{ tag }} className="underline underline-offset-2">
          {tag}
        </Link>
      ))}
      <Button disabledReason={refusal} onClick={() => setText(tags.join(' '))}>
        {tags.length > 0 ? 'Edit tags' : 'Add tags'}
      </Button>
      <FormDialog
        open={text !== null}
        onClose={() => setText(null)}
        title={`Tags of ${allocation.name}`}
        submitLabel="Save"
        refusal={tagsError(text ?? '')}
        busy={change.isPending}
        error={change.error}
        onSubmit={() => change.mutate({ id, tags: parseTags(text ?? '') })}
      >
        <TagsField value={text ?? ''} onChange={setText} />
      </FormDialog>
    </span>
  );
}
