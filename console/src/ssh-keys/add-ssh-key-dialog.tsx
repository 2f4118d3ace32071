import { useState } from 'react';
import { addSshKey } from '../api/own.ts';
import { ownKeys } from '../api/query-keys.ts';
import { useMe } from '../api/session.ts';
import type { SshKey } from '../api/types.ts';
import { useChange } from '../api/use-change.ts';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { makeKeyPair } from './make-key-pair.ts';
import { saveFile } from '../ui/save-file.ts';

interface AddSshKeyDialogProps {
  onClose: () => void;
  onAdded?: (key: SshKey) => void;
}

/** Takes a public key, or makes a pair here and keeps the private half in a file. */
export function AddSshKeyDialog({ onClose, onAdded }: AddSshKeyDialogProps) {
  const me = useMe();
  const [name, setName] = useState('');
  const [publicKey, setPublicKey] = useState('');
  const [savedAs, setSavedAs] = useState<string | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const add = useChange({
    mutationFn: addSshKey,
    refreshes: [ownKeys.sshKeys],
    onSuccess: (key) => {
      onAdded?.(key);
      onClose();
    },
  });
  const generate = async () => {
    try {
      const pair = await makeKeyPair(me?.user?.email ?? 'gpuaas');
      const file = `gpuaas-${name.trim().replaceAll(/[^\w-]+/g, '-') || 'key'}`;
      saveFile(file, pair.privateKey);
      setPublicKey(pair.publicKey);
      setName((known) => known || 'Made in the browser');
      setSavedAs(file);
    } catch {
      setFailure('This browser cannot make Ed25519 keys. Run ssh-keygen and paste the .pub file.');
    }
  };
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Add an SSH key"
      submitLabel="Add key"
      refusal={
        publicKey.trim() ? (name.trim() ? null : 'Give the key a name.') : 'Paste or make a public key.'
      }
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
              made here and is sent nowhere. Use it with <code className="font-mono">ssh -i {savedAs}</code>{' '}
              after <code className="font-mono">chmod 600 {savedAs}</code>.
            </>
          ) : (
            'The line of your .pub file, or:'
          )
        }
      />
      <div>
        <Button size="sm" onClick={() => void generate()}>
          Make a key pair in the browser
        </Button>
      </div>
    </FormDialog>
  );
}
