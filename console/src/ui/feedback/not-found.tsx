import { SearchX } from 'lucide-react';
import { Link } from '@tanstack/react-router';
import { buttonClass } from '../actions/button-class.ts';
import { EmptyState } from './empty-state.tsx';
import { useDocumentTitle } from '../page.tsx';

/** A wrong address, or a resource of another tenant: both look the same on purpose. */
export function NotFound({ what = 'page' }: { what?: string }) {
  useDocumentTitle('Not found');
  return (
    <EmptyState
      icon={SearchX}
      heading="h1"
      title={`${what.charAt(0).toUpperCase()}${what.slice(1)} not found`}
      action={
        <Link to="/" className={buttonClass({})}>
          Go to overview
        </Link>
      }
    >
      It may have been deleted, or you may not have access to it.
    </EmptyState>
  );
}
