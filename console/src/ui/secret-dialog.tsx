import { Dialog } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { CopyLine } from './copy-line.tsx';
import { DIALOG_CLASS } from './form-dialog.tsx';
import { Notice } from './notice.tsx';

interface SecretDialogProps {
  /** The secret; null closes the dialog. */
  secret: string | null;
  title: string;
  /** What the secret is, as in "Copy API key". */
  label: string;
  onClose: () => void;
  /** How it is used. */
  children?: ReactNode;
}

/** A secret the API tells once. */
export function SecretDialog({ secret, title, label, onClose, children }: SecretDialogProps) {
  return (
    <Dialog.Root open={secret !== null} onOpenChange={(open) => !open && onClose()} disablePointerDismissal>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/55" />
        <Dialog.Popup className={DIALOG_CLASS}>
          <Dialog.Title className="text-lg font-semibold">{title}</Dialog.Title>
          <Notice tone="warn" title="It is shown this once">
            <p>Keep it where secrets are kept. Whoever has it can use it; nobody can show it again.</p>
          </Notice>
          {secret !== null && <CopyLine value={secret} label={label} />}
          {children}
          <div className="flex justify-end">
            <Button variant="primary" onClick={onClose}>
              I have kept it
            </Button>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
