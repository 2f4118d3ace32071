import { Bell, KeyRound, KeySquare, MonitorSmartphone } from 'lucide-react';
import type { NavEntry } from './areas.ts';

/** Pages of the person, under the avatar. */
export const OWN_PAGES: NavEntry[] = [
  { to: '/notifications', label: 'Notifications', icon: Bell },
  { to: '/api-keys', label: 'API keys', icon: KeySquare },
  { to: '/ssh-keys', label: 'SSH keys', icon: KeyRound },
  { to: '/sign-ins', label: 'Signed-in devices', icon: MonitorSmartphone },
];
