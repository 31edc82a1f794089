import type { Command } from '../command.ts'
import { bashScript } from './bash-completion.ts'
import { fishScript } from './fish-completion.ts'
import { zshScript } from './zsh-completion.ts'

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript } as const

/** Returns the script of `trunkline completion` for a shell, made from the table of commands. */
export const completionScript = (shell: keyof typeof scripts, commands: readonly Command[]): string =>
  scripts[shell](commands)
