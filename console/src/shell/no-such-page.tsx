import { NotFound } from '../ui/not-found.tsx';

export function NoSuchPage() {
  return (
    <main>
      <NotFound />
    </main>
  );
}
