import type { RunCommand } from '../linux/commands.ts';

const ANSWERS = new Map([
  ['ovs-vsctl', 'ovsbr0\n'],
  ['virsh', 'Running hypervisor: simulated 1.0\n'],
  ['qemu-system-x86_64', '(qemu) quit\n'],
]);

/** The tools that discovery and checks run, beside the kernel's files. Others are not installed. */
export const simulatedTools: RunCommand = (tool) => {
  const stdout = ANSWERS.get(tool);
  return Promise.resolve(stdout === undefined ? null : { code: 0, stdout, stderr: '' });
};
