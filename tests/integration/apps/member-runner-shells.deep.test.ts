import { inShell } from '../../harness/apps/local-place.ts';

inShell('in dash', { shell: 'dash' });
inShell('in bash', { shell: 'bash' });
