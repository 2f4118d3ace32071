import { useId } from 'react';
import { tagsError } from './tags.ts';

interface TagsFieldProps {
  value: string;
  onChange: (tags: string) => void;
}

export function TagsField({ value, onChange }: TagsFieldProps) {
  const id = useId();
  const refusal = tagsError(value);
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="text-sm font-medium">
        Tags <span className="font-normal text-ink-faint">(optional)</span>
      </label>
      <input
        id={id}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        placeholder="team=nlp training"
        autoComplete="off"
        spellCheck={false}
        maxLength={700}
        aria-invalid={refusal !== null}
        aria-describedby={`${id}-hint`}
        className="h-9 w-full max-w-md rounded-md border border-line-strong bg-surface px-3 text-sm placeholder:text-ink-faint aria-invalid:border-(--danger)"
      />
      <p id={`${id}-hint`} className={`text-xs ${refusal ? 'tone-danger text-tone-text' : 'text-ink-faint'}`}>
        {refusal ?? 'Group costs by tag'}
      </p>
    </div>
  );
}
