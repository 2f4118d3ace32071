import { Link } from '@tanstack/react-router';
import type { Attention } from './attention.ts';
import { buttonClass } from '../ui/actions/button-class.ts';
import { Notice } from '../ui/feedback/notice.tsx';

/** At most this many on the page; the linked lists show all. */
const SHOWN = 4;

export function AttentionPanel({ items }: { items: Attention[] }) {
  if (items.length === 0) return null;
  return (
    <section aria-label="Needs attention" className="grid gap-3 lg:grid-cols-2">
      {items.slice(0, SHOWN).map(({ key, tone, title, detail, allocationId }) => (
        <Notice
          key={key}
          tone={tone}
          title={title}
          action={
            allocationId ? (
              <Link
                to="/allocations/$allocationId"
                params={{ allocationId }}
                className={buttonClass({ size: 'sm' })}
              >
                View
              </Link>
            ) : (
              <Link to="/billing" className={buttonClass({ size: 'sm' })}>
                Go to billing
              </Link>
            )
          }
        >
          <p>{detail}</p>
        </Notice>
      ))}
    </section>
  );
}
