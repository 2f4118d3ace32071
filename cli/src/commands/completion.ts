import { Argument, type Command } from 'commander';
import { complete } from '../completion.ts';

/** Each script calls the command itself, so that completions match its options. */
const SCRIPTS = {
  bash: `_gpuaas() {
  local IFS=$'\\n'
  COMPREPLY=($(gpuaas complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _gpuaas gpuaas
`,
  zsh: `#compdef gpuaas
_gpuaas() {
  local -a found
  found=("\${(@f)$(gpuaas complete -- "\${words[@]:1:$((CURRENT - 1))}" 2>/dev/null)}")
  compadd -a found
}
compdef _gpuaas gpuaas
`,
  fish: `complete -c gpuaas -f -a '(gpuaas complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
};

type Shell = keyof typeof SCRIPTS;

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print a shell completion script: eval "$(gpuaas completion bash)"')
    .addArgument(new Argument('<shell>').choices(Object.keys(SCRIPTS)))
    .action((shell: Shell) => void process.stdout.write(SCRIPTS[shell]));
  program
    .command('complete', { hidden: true })
    .description('completion candidates, used by the completion scripts')
    .argument('[words...]')
    .action(
      (words: string[]) =>
        void process.stdout.write(
          complete(program, words)
            .map((one) => `${one}\n`)
            .join(''),
        ),
    );
}
