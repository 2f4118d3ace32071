import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { sshKeysQuery } from '../api/account/own.ts';
import { AddSshKeyDialog } from '../ssh-keys/add-ssh-key-dialog.tsx';
import { Button } from '../ui/actions/button.tsx';
import { QueryBoundary } from '../ui/feedback/query-boundary.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';

interface SshKeyFieldProps {
  projectId: string;
  chosen: string[];
  onChange: (ids: string[]) => void;
}

/** SSH keys that may log in to the machine. */
export function SshKeyField({ projectId, chosen, onChange }: SshKeyFieldProps) {
  const [adding, setAdding] = useState(false);
  const own = useInfiniteQuery(sshKeysQuery(null));
  // Users who may not see the project's keys choose from their own.
  const shared = useInfiniteQuery(sshKeysQuery(projectId)).data ?? [];
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-2 text-sm font-medium">
        SSH keys <span className="font-normal text-ink-faint">(optional)</span>
      </legend>
      <QueryBoundary query={own} loading={<Skeleton label="Loading SSH keys" rows={1} />}>
        {(ownKeys) => {
          const keys = [...ownKeys, ...shared];
          return (
            <div className="flex flex-col gap-1.5 text-sm">
              {keys.length === 0 && (
                <p className="text-ink-muted">
                  No SSH keys yet: only the web terminal will work. Add a key, or generate one here and save
                  its private half.
                </p>
              )}
              {keys.length > 0 && chosen.length === 0 && (
                <p className="tone-warn text-tone-text">
                  No key chosen: SSH will not work, only the web terminal.
                </p>
              )}
              {keys.map(({ id, name, fingerprint }) => (
                <label key={id} className="flex min-w-0 items-center gap-2">
                  <input
                    type="checkbox"
                    checked={chosen.includes(id)}
                    onChange={({ target }) =>
                      onChange(target.checked ? [...chosen, id] : chosen.filter((one) => one !== id))
                    }
                  />
                  <span className="shrink-0">{name}</span>
                  <code className="min-w-0 truncate font-mono text-xs text-ink-faint">{fingerprint}</code>
                </label>
              ))}
            </div>
          );
        }}
      </QueryBoundary>
      <div>
        <Button size="sm" onClick={() => setAdding(true)}>
          Add or generate a key
        </Button>
      </div>
      {adding && (
        <AddSshKeyDialog onClose={() => setAdding(false)} onAdded={({ id }) => onChange([...chosen, id])} />
      )}
    </fieldset>
  );
}
