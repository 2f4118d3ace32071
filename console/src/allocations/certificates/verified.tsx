import { ShieldAlert, ShieldCheck } from 'lucide-react';
import { TONE_CLASS } from '../../ui/values/tone.ts';

/** Whether a wipe or a cleanup was verified; the findings are in its title. */
export function VerifiedBadge({ verified, verification }: { verified: boolean; verification: string }) {
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
