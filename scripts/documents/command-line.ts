import {
  type ArgumentDescription,
  argumentName,
  type Command,
  commandGroups,
  type OptionDescription,
  optionName,
} from '../../gateway/cli/command.ts'
import { commands } from '../../gateway/cli/command-table.ts'
import { tableCell } from './table-cell.ts'

const row = (cells: readonly string[]): string => `| ${cells.map(tableCell).join(' | ')} |`

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): readonly string[] =>
  rows.length === 0 ? [] : [row(heads), row(heads.map(() => '---')), ...rows.map(row), '']

/** Returns the usage line of a command. */
export const usage = (command: Command): string => {
  const words = Object.entries(command.arguments).map(([key, argument]) =>
    argument.optional || argument.default !== undefined ? `[${argumentName(key)}]` : `<${argumentName(key)}>`,
  )
  return ['trunkline', command.name, ...(hasOptions(command) ? ['[options]'] : []), ...words].join(' ')
}

const hasOptions = ({ options }: Command): boolean => Object.keys(options).length > 0

/** Returns what a description leaves out, in Markdown: valid values, the default, and more. */
export const remarks = ({
  choices,
  default: preset,
  ...option
}: ArgumentDescription | OptionDescription): string =>
  [
    ...(choices ? [`one of ${choices.map((choice) => `\`${choice}\``).join(', ')}`] : []),
    ...(preset === undefined ? [] : [`default: \`${preset}\``]),
    ...('required' in option ? ['required'] : []),
    ...('repeats' in option ? ['may be repeated'] : []),
  ]
    .map((remark) => `; ${remark}`)
    .join('')

const argumentRow = ([key, argument]: [string, ArgumentDescription]): readonly string[] => [
  `\`${argumentName(key)}\``,
  `${argument.description}${remarks(argument)}`,
]

const optionRow = ([key, option]: [string, OptionDescription]): readonly string[] => [
  `\`${optionName(key)}${option.value === undefined ? '' : ` <${option.value}>`}\``,
  `${option.description}${remarks(option)}`,
]

/** Returns the description of a command, in Markdown. */
export const sentences = ({ description, summary }: Command): string =>
  description ?? `${summary[0]?.toUpperCase()}${summary.slice(1)}.`

const section = (command: Command): readonly string[] => [
  `## ${command.name}`,
  '',
  sentences(command),
  '',
  '```text',
  usage(command),
  '```',
  '',
  ...table(['Argument', 'Meaning'], Object.entries(command.arguments).map(argumentRow)),
  ...table(['Option', 'Meaning'], Object.entries(command.options).map(optionRow)),
  '```sh',
  ...command.examples.flatMap(({ line, effect }) => [`# ${effect}`, `trunkline ${line}`]),
  '```',
  '',
  ...table(['Exit code', 'Meaning'], Object.entries(command.exitCodes)),
]

/** The page of the command line, from the table of commands. */
export const commandLinePage = (): string =>
  [
    '# Command line',
    '',
    'From a clone, the command is `scripts/trunkline`. Results go to the standard output. Errors and',
    'warnings go to the standard error output. An unknown command, option or argument ends with exit code 2.',
    '',
    '<!-- Written by scripts/document; do not edit. -->',
    '',
    ...table(
      ['Group', 'Command', 'Effect'],
      commandGroups.flatMap((group) =>
        commands
          .filter((command) => command.group === group)
          .map(({ name, summary }) => [group, `[${name}](#${name})`, summary]),
      ),
    ),
    ...commands.flatMap(section),
  ].join('\n')
