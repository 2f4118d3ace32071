export const MENU_POPUP_CLASS =
  'min-w-48 rounded-lg border border-line bg-raised p-1 text-sm shadow-pop outline-none';

export const MENU_ITEM_CLASS =
  'flex w-full items-center gap-2 rounded-md px-2 py-1.5 outline-none data-highlighted:bg-hover cursor-pointer';
