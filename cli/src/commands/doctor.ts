import type { Command } from 'commander';
import { diagnose, type Diagnosis } from '../doctor/diagnose.ts';
import { colorize, type Color } from '../colorize.ts';
import { print } from '../print.ts';
import { openSession } from '../session.ts';

const MARKS: Record<Diagnosis['result'], [Color, string]> = {
  ok: ['green', '✔'],
  warning: ['yellow', '!'],
  failed: ['red', '✖'],
};

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('diagnose problems and suggest fixes')
    .action(async (_options, command: Command) => {
      const session = openSession(command);
      const findings = await diagnose(session);
      print(session, { items: findings }, () => findings.map(inWords).join('\n'));
      if (findings.some(({ result }) => result === 'failed')) process.exitCode = 1;
    });
}

function inWords({ check, result, detail, next }: Diagnosis): string {
  const line = `${colorize(...MARKS[result])} ${check.padEnd(10)} ${detail}`;
  return next ? `${line}\n${' '.repeat(13)}${colorize('cyan', `Next: ${next}`)}` : line;
}
