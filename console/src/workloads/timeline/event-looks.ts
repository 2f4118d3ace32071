import { Check, CircleDot, Clock, ShieldAlert, ShieldCheck, Square, X, type LucideIcon } from 'lucide-react';
import type { AppInstanceEvent } from '../../api/types.ts';
import type { Tone } from '../../ui/values/tone.ts';

interface EventLook {
  title: string;
  tone: Tone;
  icon: LucideIcon;
}

export const EVENT_LOOKS: Record<AppInstanceEvent['event_type'], EventLook> = {
  created: { title: 'Created', tone: 'neutral', icon: CircleDot },
  gate_waiting: { title: 'Waiting', tone: 'warn', icon: Clock },
  starting: { title: 'Starting', tone: 'info', icon: CircleDot },
  stage: { title: 'Progress', tone: 'info', icon: CircleDot },
  member_added: { title: 'Member started', tone: 'info', icon: CircleDot },
  start_completed: { title: 'Running', tone: 'success', icon: Check },
  healthy: { title: 'Ready', tone: 'success', icon: Check },
  member_failed: { title: 'Member failed', tone: 'danger', icon: X },
  stopping: { title: 'Stopping', tone: 'warn', icon: Square },
  member_removed: { title: 'Member ended', tone: 'neutral', icon: CircleDot },
  teardown_open: { title: 'Teardown not proven yet', tone: 'warn', icon: ShieldAlert },
  teardown_proved: { title: 'Teardown proven', tone: 'success', icon: ShieldCheck },
  stopped: { title: 'Stopped', tone: 'neutral', icon: Square },
  failed: { title: 'Failed', tone: 'danger', icon: X },
  succeeded: { title: 'Succeeded', tone: 'success', icon: Check },
};
