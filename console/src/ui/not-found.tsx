import { SearchX } from 'lucide-react';
import { Link } from '@tanstack/react-router';
import { buttonClass } from './button-class.ts';
import { EmptyState } from './empty-state.tsx';
import { useDocumentTitle } from './page.tsx';

/** A wrong address, or something that belongs to somebody else: the two look the same on purpose. */
export function NotFound({ what = 'page' }: { what?: string }) {
  useDocumentTitle('Not found');
  return (
    <EmptyState
      icon={SearchX}
      heading="h1"
      title={`There is no such ${what}`}
      action={
        <Link to="/" className={buttonClass({})}>
          Back to the start
        </Link>
      }
    >
      It may have been removed, or it belongs to a project you are not a member of.
    </EmptyState>
  );
}
