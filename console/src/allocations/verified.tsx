import { ShieldAlert, ShieldCheck } from 'lucide-react';
import { TONE_CLASS } from '../ui/tone.ts';

/** Whether a wipe or a cleanup was proven; what was found stands in its title. */
export function Verified({ verified, verification }: { verified: boolean; verification: string }) {
  const Icon = verified ? ShieldCheck : ShieldAlert;
  return (
    <span
      title={verification}
      className={`${TONE_CLASS[verified ? 'success' : 'danger']} inline-flex items-center gap-1.5 text-tone-text`}
    >
      <Icon aria-hidden className="size-4" />
      {verified ? 'Verified' : 'Not verified'}
    </span>
  );
}
