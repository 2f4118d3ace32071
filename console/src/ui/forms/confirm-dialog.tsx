import { AlertDialog } from '@base-ui/react/alert-dialog';
import type { ReactNode } from 'react';
import { Button } from '../actions/button.tsx';
import { ProblemNotice } from '../feedback/problem-notice.tsx';

interface ConfirmDialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  /** What the action destroys. */
  children: ReactNode;
  confirmLabel: string;
  /** Why it cannot be confirmed yet. */
  refusal?: string | null;
  onConfirm: () => void;
  busy: boolean;
  error: Error | null;
}

/** Asks for confirmation, and names what is destroyed. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  return (
    <AlertDialog.Root open={props.open} onOpenChange={(open) => !open && props.onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="fixed inset-0 z-40 bg-black/55" />
        <AlertDialog.Popup className="fixed top-1/2 left-1/2 z-50 flex w-[min(30rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 flex-col gap-4 rounded-xl border border-line bg-raised p-5 shadow-pop">
          <AlertDialog.Title className="text-lg font-semibold">{props.title}</AlertDialog.Title>
          <AlertDialog.Description render={<div />} className="text-sm text-ink-muted">
            {props.children}
          </AlertDialog.Description>
          {props.error && <ProblemNotice error={props.error} />}
          <div className="flex justify-end gap-2">
            <Button onClick={props.onClose}>Cancel</Button>
            <Button
              variant="danger"
              onClick={props.onConfirm}
              busy={props.busy}
              disabledReason={props.refusal ?? null}
            >
              {props.confirmLabel}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
