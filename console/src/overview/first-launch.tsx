import { Link } from '@tanstack/react-router';
import { Rocket } from 'lucide-react';
import { buttonClass } from '../ui/actions/button-class.ts';
import { QuickLaunch } from './quick-launch.tsx';

const STEPS = [
  ['Pick a size', 'Prices and availability are shown for each size.'],
  ['Watch it start', 'Follow every step live. It takes about a minute.'],
  ['Open a terminal', 'In the browser, or over SSH with your key.'],
] as const;

/** First page of a new user: three steps, and a size to click. */
export function FirstLaunch({ organizationId }: { organizationId: string }) {
  return (
    <section
      aria-label="First launch"
      className="grid items-center gap-8 rounded-xl border border-line bg-surface p-5 sm:p-8 lg:grid-cols-[1fr_24rem]"
    >
      <div className="flex flex-col items-start gap-5">
        <div className="flex flex-col gap-1.5">
          <h2 className="text-2xl font-semibold tracking-tight text-balance">
            Your first GPU is a minute away
          </h2>
          <p className="max-w-lg text-base text-ink-muted">
            Whole GPUs with their own NVMe and fabric function, billed by the second, wiped with proof.
          </p>
        </div>
        <ol className="flex flex-col gap-2.5">
          {STEPS.map(([title, text], index) => (
            <li key={title} className="flex items-baseline gap-3 text-sm">
              <span
                aria-hidden
                className="flex size-6 shrink-0 items-center justify-center self-center rounded-full bg-accent-wash text-xs font-semibold text-accent-text"
              >
                {index + 1}
              </span>
              <span>
                <span className="font-medium">{title}.</span> <span className="text-ink-muted">{text}</span>
              </span>
            </li>
          ))}
        </ol>
        <Link to="/launch" className={buttonClass({ variant: 'primary', size: 'lg' })}>
          <Rocket aria-hidden className="size-4" />
          Launch a GPU
        </Link>
      </div>
      <QuickLaunch organizationId={organizationId} />
    </section>
  );
}
