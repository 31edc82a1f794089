import { defineCommand } from '../command.ts'

/** `trunkline completion`. */
export const completion = defineCommand({
  name: 'completion',
  group: 'Shell',
  summary: 'print a completion script for a shell',
  description:
    'Prints a script that completes commands, options, choices and files. Your shell loads it at its start.',
  arguments: { shell: { description: 'shell of the script', choices: ['bash', 'zsh', 'fish'] } },
  options: {},
  examples: [
    {
      line: 'completion bash > ~/.local/share/bash-completion/completions/trunkline',
      effect: 'installs it for bash',
    },
    {
      line: 'completion zsh > ~/.zfunc/_trunkline',
      effect: 'installs it for zsh, if `fpath` has ~/.zfunc',
    },
    {
      line: 'completion fish > ~/.config/fish/completions/trunkline.fish',
      effect: 'installs it for fish',
    },
  ],
  exitCodes: { 0: 'the script is printed', 2: 'the arguments are invalid' },
  run: async ({ shell }, { commands }) => {
    const { completionScript } = await import('../completion/completion-script.ts')
    process.stdout.write(completionScript(shell, commands))
    return 0
  },
})
