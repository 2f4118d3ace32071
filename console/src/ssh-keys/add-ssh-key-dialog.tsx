import { useState } from 'react';
import { addSshKey } from '../api/account/own.ts';
import { userKeys } from '../api/query-keys.ts';
import { useMe } from '../api/me.ts';
import type { SshKey } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { Button } from '../ui/actions/button.tsx';
import { Field } from '../ui/forms/field.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';
import { generateKeyPair } from './generate-key-pair.ts';
import { saveFile } from '../ui/actions/save-file.ts';

interface AddSshKeyDialogProps {
  onClose: () => void;
  onAdded?: (key: SshKey) => void;
}

/** Accepts a public key, or creates a pair and saves the private half to a file. */
export function AddSshKeyDialog({ onClose, onAdded }: AddSshKeyDialogProps) {
  const me = useMe();
  const [name, setName] = useState('');
  const [publicKey, setPublicKey] = useState('');
  const [savedAs, setSavedAs] = useState<string | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const add = useRefreshingMutation({
    mutationFn: addSshKey,
    refreshes: [userKeys.sshKeys],
    onSuccess: (key) => {
      onAdded?.(key);
      onClose();
    },
  });
  const generate = async () => {
    try {
      const pair = await generateKeyPair(me?.user?.email ?? 'gpuaas');
      const file = `gpuaas-${name.trim().replaceAll(/[^\w-]+/g, '-') || 'key'}`;
      saveFile(file, pair.privateKey);
      setPublicKey(pair.publicKey);
      setName((known) => known || 'Generated in the browser');
      setSavedAs(file);
    } catch {
      setFailure('This browser cannot generate Ed25519 keys. Run ssh-keygen and paste the .pub file.');
    }
  };
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Add an SSH key"
      submitLabel="Add key"
      refusal={publicKey.trim() ? (name.trim() ? null : 'Enter a name.') : 'Paste or generate a public key.'}
      busy={add.isPending}
      error={add.error}
      onSubmit={() => add.mutate({ name: name.trim(), public_key: publicKey.trim() })}
    >
      <Field label="Name" value={name} onChange={setName} maxLength={64} placeholder="laptop" />
      <Field
        label="Public key"
        rows={4}
        value={publicKey}
        onChange={setPublicKey}
        placeholder="ssh-ed25519 AAAA… you@laptop"
        refusal={failure}
        hint={
          savedAs ? (
            <>
              The private key is in your downloads as <code className="font-mono">{savedAs}</code>. It was
              generated in your browser and never sent. Use it with{' '}
              <code className="font-mono">ssh -i {savedAs}</code> after{' '}
              <code className="font-mono">chmod 600 {savedAs}</code>.
            </>
          ) : (
            'Contents of your .pub file, or:'
          )
        }
      />
      <div>
        <Button size="sm" onClick={() => void generate()}>
          Generate a key pair
        </Button>
      </div>
    </FormDialog>
  );
}
