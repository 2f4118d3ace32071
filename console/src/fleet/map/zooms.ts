/** Zoom levels of the map. Complete class names, so that the stylesheet keeps them. */
export const ZOOM_LEVELS = {
  far: {
    racks: 'grid-cols-[repeat(auto-fill,minmax(7rem,1fr))]',
    slot: 'size-1.5 rounded-[1px]',
    gap: 'gap-px',
    name: 'sr-only',
  },
  between: {
    racks: 'grid-cols-[repeat(auto-fill,minmax(15rem,1fr))]',
    slot: 'size-2.5 rounded-[2px]',
    gap: 'gap-0.5',
    name: 'text-xs',
  },
  near: {
    racks: 'grid-cols-[repeat(auto-fill,minmax(min(24rem,100%),1fr))]',
    slot: 'size-5 rounded-[3px]',
    gap: 'gap-1',
    name: 'text-sm',
  },
};

export type Zoom = keyof typeof ZOOM_LEVELS;
