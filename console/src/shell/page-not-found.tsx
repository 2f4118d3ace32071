import { NotFound } from '../ui/feedback/not-found.tsx';

export function PageNotFound() {
  return (
    <div>
      <NotFound />
    </div>
  );
}
