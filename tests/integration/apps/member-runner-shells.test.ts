import { inShell } from '../../harness/apps/local-place.ts';

inShell('in busybox with its own tools', { shell: 'busybox' });
inShell('as a plain user', { shell: 'dash', uid: 64_998 });
