import { Dialog } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';
import { Button } from '../actions/button.tsx';
import { ProblemNotice } from '../feedback/problem-notice.tsx';

interface FormDialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  children: ReactNode;
  submitLabel: string;
  onSubmit: () => void;
  /** Why the form cannot be sent yet. */
  refusal?: string | null;
  busy: boolean;
  error: Error | null;
}

/** A short form in a dialog. Its fields are children. */
export function FormDialog(props: FormDialogProps) {
  const submit = () => {
    if (!props.refusal && !props.busy) props.onSubmit();
  };
  return (
    <Dialog.Root open={props.open} onOpenChange={(open) => !open && props.onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/55" />
        <Dialog.Popup className={DIALOG_CLASS}>
          <Dialog.Title className="text-lg font-semibold">{props.title}</Dialog.Title>
          <form
            className="flex flex-col gap-4"
            onSubmit={(event) => {
              event.preventDefault();
              // React hands the event on to a form around the dialog, although they are apart in the document.
              event.stopPropagation();
              submit();
            }}
          >
            {props.children}
            {props.error && <ProblemNotice error={props.error} />}
            <div className="flex justify-end gap-2">
              <Button onClick={props.onClose}>Cancel</Button>
              <Button type="submit" variant="primary" busy={props.busy} disabledReason={props.refusal}>
                {props.submitLabel}
              </Button>
            </div>
          </form>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

export const DIALOG_CLASS =
  'fixed top-1/2 left-1/2 z-50 flex max-h-[calc(100dvh-2rem)] w-[min(34rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 flex-col gap-4 overflow-y-auto rounded-xl border border-line bg-raised p-5 shadow-pop';
