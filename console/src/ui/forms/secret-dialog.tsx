import { Dialog } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';
import { Button } from '../actions/button.tsx';
import { CopyLine } from '../actions/copy-line.tsx';
import { DIALOG_CLASS } from './form-dialog.tsx';
import { Notice } from '../feedback/notice.tsx';

interface SecretDialogProps {
  /** The secret; null closes the dialog. */
  secret: string | null;
  title: string;
  /** Name of the secret, as in "Copy API key". */
  label: string;
  onClose: () => void;
  /** How it is used. */
  children?: ReactNode;
}

/** A secret that the API returns once. */
export function SecretDialog({ secret, title, label, onClose, children }: SecretDialogProps) {
  return (
    <Dialog.Root open={secret !== null} onOpenChange={(open) => !open && onClose()} disablePointerDismissal>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/55" />
        <Dialog.Popup className={DIALOG_CLASS}>
          <Dialog.Title className="text-lg font-semibold">{title}</Dialog.Title>
          <Notice tone="warn" title="Copy it now: you won't see it again">
            <p>Store it in a secret manager.</p>
          </Notice>
          {secret !== null && <CopyLine value={secret} label={label} />}
          {children}
          <div className="flex justify-end">
            <Button variant="primary" onClick={onClose}>
              Done
            </Button>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
