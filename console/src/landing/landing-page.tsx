import { getRouteApi, Link } from '@tanstack/react-router';
import { ArrowRight } from 'lucide-react';
import { signInPath } from '../api/me.ts';
import { Logo } from '../shell/logo.tsx';
import { ThemeSwitch } from '../shell/theme-switch.tsx';
import { buttonClass } from '../ui/actions/button-class.ts';
import { useDocumentTitle } from '../ui/page.tsx';
import { RackPicture } from './rack-picture.tsx';

const route = getRouteApi('/');

const PROMISES = [
  [
    'By the slice',
    'One to eight H200 GPUs with their own NVMe and fabric function. Never shared, never oversold.',
  ],
  ['By the second', 'The price you see is the price you pay, counted from ready to release.'],
  ['Wiped with proof', 'Nothing is leased again until a verified wipe record for every disk exists.'],
] as const;

export function LandingPage() {
  useDocumentTitle('GPUaaS');
  const { return_to: returnTo } = route.useSearch();
  return (
    <div className="mx-auto flex min-h-dvh max-w-6xl flex-col px-5 sm:px-8">
      <header className="flex items-center justify-between py-5">
        <Logo />
        <ThemeSwitch />
      </header>
      <main className="flex flex-1 flex-col justify-center gap-14 py-10">
        <div className="grid items-center gap-12 lg:grid-cols-[1fr_24rem]">
          <div className="flex flex-col items-start gap-6">
            <h1 className="text-4xl leading-[1.08] font-semibold tracking-[-0.025em] text-balance sm:text-5xl">
              Turn racks of GPU servers into a cloud.
            </h1>
            <p className="max-w-lg text-base text-ink-muted sm:text-lg">
              Launch a GPU slice, watch it start, open a terminal, and release it when you are done.
            </p>
            <a href={signInPath(returnTo ?? '/')} className={buttonClass({ variant: 'primary', size: 'lg' })}>
              Sign in
              <ArrowRight aria-hidden className="size-4" />
            </a>
            <Link
              to="/sign-in"
              search={returnTo ? { return_to: returnTo } : {}}
              className="text-sm text-accent-text underline underline-offset-2"
            >
              Use your organization's account
            </Link>
            {returnTo && <p className="text-sm text-ink-muted">You will return to the page you requested.</p>}
          </div>
          <RackPicture />
        </div>
        <ul className="grid gap-x-10 gap-y-6 border-t border-line pt-8 sm:grid-cols-3">
          {PROMISES.map(([title, text]) => (
            <li key={title} className="flex flex-col gap-1">
              <h2 className="text-sm font-semibold">{title}</h2>
              <p className="text-sm text-ink-muted">{text}</p>
            </li>
          ))}
        </ul>
      </main>
    </div>
  );
}
