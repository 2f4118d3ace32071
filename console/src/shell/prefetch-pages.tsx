import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';

const AFTER_MS = 3_000;

/** Loads the code of every page once the first one stands, so that a click needs no download. */
export function PrefetchPages() {
  const router = useRouter();
  useEffect(() => {
    const timer = setTimeout(() => {
      for (const route of Object.values(router.routesById))
        void router.loadRouteChunk(route)?.catch(() => undefined);
    }, AFTER_MS);
    return () => clearTimeout(timer);
  }, [router]);
  return null;
}
