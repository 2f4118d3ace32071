export interface ButtonStyle {
  variant?: 'primary' | 'secondary' | 'danger' | 'ghost';
  size?: 'sm' | 'md' | 'lg' | 'icon';
}

const BASE =
  'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap transition-colors ' +
  'aria-disabled:cursor-not-allowed aria-disabled:border-line aria-disabled:bg-sunken aria-disabled:text-ink-faint';

const VARIANT = {
  primary: 'border-transparent bg-accent text-accent-ink hover:bg-accent-hover',
  secondary: 'border-line bg-raised text-ink hover:bg-hover',
  danger: 'tone-danger border-tone/50 bg-tone/10 text-tone-text hover:bg-tone/20',
  ghost: 'border-transparent text-ink-muted hover:bg-hover hover:text-ink',
};

const SIZE = { sm: 'h-7 px-2.5 text-xs', md: 'h-8 px-3 text-sm', lg: 'h-10 px-4 text-base', icon: 'size-8' };

/** Button styles, for links that act like one. */
export function buttonClass({ variant = 'secondary', size = 'md' }: ButtonStyle): string {
  return `${BASE} ${VARIANT[variant]} ${SIZE[size]}`;
}
