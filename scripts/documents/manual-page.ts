import { argumentName, type Command, commandGroups, optionName } from '../../gateway/cli/command.ts'
import { commands } from '../../gateway/cli/command-table.ts'
import { remarks, sentences, usage } from './command-line.ts'

/** Returns a text with the characters of roff escaped. */
const escaped = (text: string): string => text.replaceAll('\\', '\\e').replaceAll('-', '\\-')

/** Returns a line of text. A full stop or an apostrophe at its start would be a request of roff. */
const line = (text: string): string => escaped(text).replace(/^(?=[.'])/, '\\&')

/** Returns Markdown as roff: code is bold. */
const prose = (markdown: string): string => line(markdown).replace(/`([^`]+)`/g, '\\fB$1\\fR')

const entry = (term: string, ...meaning: readonly string[]): readonly string[] => ['.TP', term, ...meaning]

const bold = (text: string): string => `\\fB${escaped(text)}\\fR`
const italic = (text: string): string => `\\fI${escaped(text)}\\fR`

const section = (command: Command): readonly string[] => [
  `.SS ${escaped(command.name)}`,
  bold(usage(command)),
  '.PP',
  prose(sentences(command)),
  ...Object.entries(command.arguments).flatMap(([key, argument]) =>
    entry(italic(argumentName(key)), prose(`${argument.description}${remarks(argument)}`)),
  ),
  ...Object.entries(command.options).flatMap(([key, option]) => {
    const value = option.value === undefined ? '' : ` ${italic(option.value)}`
    return entry(`${bold(optionName(key))}${value}`, prose(`${option.description}${remarks(option)}`))
  }),
  '.PP',
  'Exit codes:',
  ...Object.entries(command.exitCodes).flatMap(([code, meaning]) => entry(bold(code), prose(meaning))),
  '.PP',
  'Examples:',
  ...command.examples.flatMap((example) => [
    ...entry(bold(`trunkline ${example.line}`), prose(example.effect)),
  ]),
]

/** The manual page of `trunkline`, section 1, in the macros of `man`. Made from the table of commands. */
export const manualPage = (version: string): string =>
  [
    `.TH TRUNKLINE 1 "" "Trunkline ${escaped(version)}" "User Commands"`,
    '.SH NAME',
    'trunkline \\- carrier edge in one daemon',
    '.SH SYNOPSIS',
    `${bold('trunkline')} ${italic('command')} [${italic('options')}]`,
    '.SH DESCRIPTION',
    'SIP trunks in, programmable calls, browser subscribers out.',
    'Results go to the standard output. Errors and warnings go to the standard error output.',
    'An unknown command, option or argument ends with exit code 2.',
    ...commandGroups.flatMap((group) => [
      `.SH ${group.toUpperCase()}`,
      ...commands.filter((command) => command.group === group).flatMap(section),
    ]),
    '.SH FILES',
    ...entry(italic('/etc/trunkline/trunkline.yaml'), 'configuration of the service'),
    ...entry(italic('/etc/default/trunkline'), 'environment variables for the configuration'),
    ...entry(italic('/var/lib/trunkline'), 'store, keys, recordings, control socket'),
    '.SH SEE ALSO',
    'The running gateway serves its documentation at',
    `${bold('/docs/')}.`,
    '',
  ].join('\n')
