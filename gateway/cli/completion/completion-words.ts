import { type ArgumentDescription, type Command, type OptionDescription, optionName } from '../command.ts'

/** Value that a shell completes. */
export type CompletedValue = ArgumentDescription | OptionDescription

/** Options of `trunkline` without a command. */
export const globalOptions: readonly (readonly [name: string, effect: string])[] = [
  ['--help', 'print this help'],
  ['--version', 'print the version'],
]

/** Returns a text as one word of bash and zsh. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Returns the options of a command with their names on the command line. */
export const namedOptions = ({ options }: Command): readonly [string, OptionDescription][] =>
  Object.entries(options).map(([key, option]) => [optionName(key), option])

/** Returns the words that a value may have; empty if any text is valid. */
export const wordsOf = (
  { choices, completes }: CompletedValue,
  commands: readonly Command[],
): readonly string[] => (completes === 'command' ? commands.map(({ name }) => name) : (choices ?? []))
