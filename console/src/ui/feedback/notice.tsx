import { CircleAlert, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { TONE_CLASS } from '../values/tone.ts';

interface NoticeProps {
  tone: 'danger' | 'warn' | 'info';
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}

const ICON = { danger: CircleAlert, warn: TriangleAlert, info: Info };

export function Notice({ tone, title, children, action }: NoticeProps) {
  const Icon = ICON[tone];
  return (
    <div
      role={tone === 'danger' ? 'alert' : 'status'}
      className={`${TONE_CLASS[tone]} flex gap-3 rounded-lg border border-tone/40 bg-tone/8 p-3 text-sm`}
    >
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0 text-tone-text" />
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <p className="font-semibold text-tone-text">{title}</p>
        <div className="flex flex-col gap-1.5 break-words text-ink-muted">{children}</div>
        {action && <div className="mt-1.5 flex flex-wrap gap-2">{action}</div>}
      </div>
    </div>
  );
}
