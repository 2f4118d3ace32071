import { lazyRouteComponent } from '@tanstack/react-router';

/** The code of a page did not arrive. */
export class PageNotLoadedError extends Error {
  override readonly name = 'PageNotLoadedError';
}

/** A page whose code is loaded when it is first needed. A failure is shown in its place instead of a reload. */
export function lazyPage<Module extends object, Name extends keyof Module & string>(
  load: () => Promise<Module>,
  name: Name,
) {
  return lazyRouteComponent(async () => {
    try {
      return await load();
    } catch (error) {
      throw new PageNotLoadedError('The page could not be loaded.', { cause: error });
    }
  }, name);
}
