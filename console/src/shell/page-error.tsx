import type { ErrorComponentProps } from '@tanstack/react-router';
import { useLostAt } from '../live/connection.ts';
import { Button } from '../ui/actions/button.tsx';
import { Notice } from '../ui/feedback/notice.tsx';

/** A page inside the frame that could not be shown. */
export function PageError({ error }: ErrorComponentProps) {
  const lostAt = useLostAt();
  return (
    <div className="mx-auto w-full max-w-lg p-6">
      <Notice
        tone="danger"
        title={lostAt === null ? 'This page failed' : 'This page cannot be shown offline'}
        action={
          lostAt === null && (
            <Button size="sm" onClick={() => location.reload()}>
              Reload
            </Button>
          )
        }
      >
        <p>
          {lostAt === null
            ? String(error)
            : 'It was not loaded before the connection was lost. Pages that you opened still work.'}
        </p>
      </Notice>
    </div>
  );
}
