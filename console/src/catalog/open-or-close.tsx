import type { UseMutationResult } from '@tanstack/react-query';
import { usePlatformDisabledReason } from '../api/me.ts';
import { Button } from '../ui/actions/button.tsx';
import { ConfirmButton } from '../ui/actions/confirm-button.tsx';
import { RowActions } from '../ui/actions/row-actions.tsx';

/** Opens or closes a part of the catalog; closing asks first. */
export function OpenOrClose<Answer>({
  name,
  open,
  change,
}: {
  name: string;
  open: boolean;
  change: UseMutationResult<Answer>;
}) {
  const refusal = usePlatformDisabledReason('catalog.manage');
  return (
    <RowActions>
      {open ? (
        <ConfirmButton
          label="Close"
          title={`Close ${name}?`}
          confirmLabel="Close"
          disabledReason={refusal}
          act={change}
        >
          New launches are blocked. Running machines continue, and you can reopen it.
        </ConfirmButton>
      ) : (
        <Button
          size="sm"
          disabledReason={refusal}
          busy={change.isPending}
          onClick={() => change.mutate(undefined)}
        >
          Open
        </Button>
      )}
    </RowActions>
  );
}

/** A display name above its id. */
export function NameAndId({ name, id }: { name: string; id: string }) {
  return (
    <span className="flex flex-col">
      <span className="font-medium">{name}</span>
      <code className="font-mono text-xs text-ink-faint">{id}</code>
    </span>
  );
}
