import type { Command } from '../command.ts'
import { type CompletedValue, globalOptions, namedOptions, wordsOf } from './completion-words.ts'

/** Returns the completion script for fish. */
export const fishScript = (commands: readonly Command[]): string =>
  [
    '# Completion of trunkline for fish, printed by `trunkline completion fish`.',
    'complete -c trunkline -f',
    ...globalOptions.map(([name, effect]) => option('__fish_use_subcommand', name, effect)),
    ...commands.flatMap((command) => commandLines(command, commands)),
    '',
  ].join('\n')

const commandLines = (command: Command, commands: readonly Command[]): readonly string[] => {
  const condition = `__fish_seen_subcommand_from ${command.name}`
  return [
    `complete -c trunkline -n __fish_use_subcommand -a ${command.name} -d ${word(command.summary)}`,
    ...namedOptions(command).map(([name, described]) => {
      const value = described.value === undefined ? '' : values(described, commands)
      return `${option(condition, name, described.description)}${value}`
    }),
    option(condition, '--help', 'print this help'),
    ...Object.values(command.arguments)
      .filter(({ completes, choices }) => completes !== undefined || choices !== undefined)
      .map((argument) => {
        const value = argument.completes === 'file' ? ' -F' : values(argument, commands)
        return `complete -c trunkline -n ${word(condition)}${value}`
      }),
  ]
}

const option = (condition: string, name: string, effect: string): string =>
  `complete -c trunkline -n ${word(condition)} -l ${name.slice(2)} -d ${word(effect)}`

/** Returns a text as one word of fish, whose single quotes have escapes. */
const word = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

/** Returns the arguments of `complete` for a value. */
const values = (value: CompletedValue, commands: readonly Command[]): string => {
  const words = wordsOf(value, commands)
  if (words.length > 0) return ` -x -a ${word(words.join(' '))}`
  if (value.completes === 'folder') return " -x -a '(__fish_complete_directories)'"
  return value.completes === 'file' ? ' -r -F' : ' -x'
}
