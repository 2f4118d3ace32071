import { Monitor, Moon, Sun } from 'lucide-react';
import { useId } from 'react';
import { humanize } from '../format/humanize.ts';
import { THEME_CHOICES, useTheme } from '../theme/theme.ts';

const ICON = { light: Sun, dark: Moon, system: Monitor };

export function ThemeSwitch() {
  const [theme, chooseTheme] = useTheme();
  // The landing page, the sidebar and the drawer may each contain one.
  const group = useId();
  return (
    <fieldset className="flex w-fit gap-px rounded-md border border-line bg-sunken p-0.5">
      <legend className="sr-only">Theme</legend>
      {THEME_CHOICES.map((choice) => {
        const Icon = ICON[choice];
        return (
          <label
            key={choice}
            title={`${humanize(choice)} theme`}
            className="relative flex size-6 cursor-pointer items-center justify-center rounded text-ink-faint hover:text-ink has-checked:bg-raised has-checked:text-accent-text has-checked:shadow-xs has-focus-visible:outline-2 has-focus-visible:outline-accent"
          >
            <input
              type="radio"
              name={group}
              className="absolute inset-0 cursor-pointer appearance-none rounded outline-none"
              checked={theme === choice}
              onChange={() => chooseTheme(choice)}
              aria-label={humanize(choice)}
            />
            <Icon aria-hidden className="size-3.5" />
          </label>
        );
      })}
    </fieldset>
  );
}
