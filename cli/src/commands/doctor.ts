import type { Command } from 'commander';
import { checkSetUp, type Finding } from '../doctor/check-set-up.ts';
import { paint, type Color } from '../paint.ts';
import { print } from '../print.ts';
import { openSession } from '../session.ts';

const MARKS: Record<Finding['result'], [Color, string]> = {
  ok: ['green', '✔'],
  warning: ['yellow', '!'],
  failed: ['red', '✖'],
};

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('look for what keeps gpuaas from working, and say what to do about it')
    .action(async (_options, command: Command) => {
      const session = openSession(command);
      const findings = await checkSetUp(session);
      print(session, { items: findings }, () => findings.map(inWords).join('\n'));
      if (findings.some(({ result }) => result === 'failed')) process.exitCode = 1;
    });
}

function inWords({ check, result, detail, next }: Finding): string {
  const line = `${paint(...MARKS[result])} ${check.padEnd(10)} ${detail}`;
  return next ? `${line}\n${' '.repeat(13)}${paint('cyan', `Next: ${next}`)}` : line;
}
