import { Argument, CommanderError, Option, Command as Program } from 'commander'
import { releaseVersion } from '../core/version.ts'
import {
  type ArgumentDescription,
  argumentName,
  type Command,
  type CommandContext,
  commandGroups,
  type OptionDescription,
  optionName,
} from './command.ts'
import { commands } from './command-table.ts'
import { oneOf } from './parsers.ts'
import { invalid } from './with-config.ts'

/**
 * Runs the command that the arguments name. Resolves with the process's exit code: 0 for success, and 2 for
 * invalid arguments or an invalid configuration. Each command describes its other codes. A command's modules
 * are imported when it runs, so that the help loads nothing of the gateway. `reloading` passes SIGHUP to the
 * `run` command, which then reloads its configuration.
 */
export const runCommand = async (
  reloading: CommandContext['reloading'],
  args: readonly string[] = process.argv.slice(2),
): Promise<number> => {
  let exitCode = 0
  const program = programOf(async (command, values) => {
    exitCode = await command.run(values, { commands, reloading, printHelp })
  })
  const printHelp = async (name?: string): Promise<void> => {
    const words = name === undefined ? ['--help'] : isUnknown(name) ? [name] : [name, '--help']
    await program.parseAsync(words, { from: 'user' })
  }
  try {
    if (args.length === 0) return printUsage(program)
    await program.parseAsync(isUnknown(args[0]) ? args.slice(0, 1) : args, { from: 'user' })
    return exitCode
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? 0 : invalid
  }
}

/** Whether a text is neither a command nor an option. With `--help` after it, commander prints no error. */
const isUnknown = (text: string | undefined): boolean =>
  text !== undefined && !text.startsWith('-') && commands.every(({ name }) => name !== text)

/** Prints the help as an error, because the user named no command. */
const printUsage = (program: Program): number => {
  process.stderr.write(program.helpInformation())
  return invalid
}

type CarryOut = (command: Command, values: Readonly<Record<string, unknown>>) => Promise<void>

/** Returns the parser of the command line for the table of commands. `carryOut` runs the command. */
const programOf = (carryOut: CarryOut): Program => {
  const program = new Program('trunkline')
    .description('A carrier edge in one daemon: SIP trunks in, programmable calls, browser subscribers out.')
    .usage('COMMAND [OPTIONS]')
    .version(releaseVersion(), '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ sortSubcommands: false, subcommandTerm: (command) => command.name() })
    .configureOutput({ outputError: (text, write) => write(errorText(text)) })
    .addHelpText(
      'after',
      '\nRun `trunkline help COMMAND` for the options, examples and exit codes of a command.',
    )
  for (const group of commandGroups) {
    program.commandsGroup(`${group}:`)
    for (const command of commands.filter((each) => each.group === group)) {
      const parser = addCommand(program, command)
      parser.action(async () => carryOut(command, valuesOf(command, parser)))
    }
  }
  return program
}

const addCommand = (program: Program, command: Command): Program => {
  const parser = program
    .command(command.name)
    .summary(command.summary)
    .description(command.description ?? sentence(command.summary))
    .helpOption('-h, --help', 'print this help')
    .configureHelp({ sortOptions: false })
    .showHelpAfterError(`Run \`trunkline ${command.name} --help\` for its usage.`)
    .addHelpText('after', () => examplesAndCodes(command))
  for (const [key, argument] of Object.entries(command.arguments))
    parser.addArgument(argumentOf(key, argument))
  for (const [key, option] of Object.entries(command.options)) parser.addOption(optionOf(key, option))
  return parser
}

const argumentOf = (key: string, description: ArgumentDescription): Argument => {
  const { default: preset, choices, parse = choices && oneOf(choices) } = description
  const isOptional = description.optional === true || preset !== undefined
  const name = argumentName(key)
  const argument = new Argument(isOptional ? `[${name}]` : `<${name}>`, description.description)
  if (preset !== undefined) argument.default(preset)
  if (choices) argument.choices(choices)
  if (parse) argument.argParser(parse)
  return argument
}

const optionOf = (key: string, description: OptionDescription): Option => {
  const { value, default: preset, choices, repeats, parse = choices && oneOf(choices) } = description
  const option = new Option(
    value === undefined ? optionName(key) : `${optionName(key)} <${value}>`,
    description.description,
  ).makeOptionMandatory(description.required === true)
  // Commander would read `--no-defaults` as the opposite of an option `--defaults`.
  option.negate = false
  if (choices) option.choices(choices)
  const read = parse ?? ((text: string): unknown => text)
  option.argParser<unknown>((text, previous) =>
    repeats ? [...((previous as readonly unknown[] | undefined) ?? []), read(text)] : read(text),
  )
  if (preset !== undefined) option.default(preset)
  return option
}

/** Returns the values of a parsed command by their keys in its description. */
const valuesOf = (command: Command, parser: Program): Readonly<Record<string, unknown>> => {
  const values: Record<string, unknown> = {}
  for (const [index, key] of Object.keys(command.arguments).entries())
    values[key] = parser.processedArgs[index]
  const given: Readonly<Record<string, unknown>> = parser.opts()
  for (const [key, { value, repeats }] of Object.entries(command.options))
    values[key] = given[key] ?? (value === undefined ? false : repeats ? [] : undefined)
  return values
}

/** Returns the part of a command's help that commander does not make. */
const examplesAndCodes = ({ examples, exitCodes }: Command): string => {
  const lines = examples.flatMap(({ line, effect }) => [`  # ${effect}`, `  trunkline ${line}`])
  const codes = Object.entries(exitCodes).map(([code, meaning]) => `  ${code}  ${meaning}`)
  return ['', 'Examples:', ...lines, '', 'Exit codes:', ...codes].join('\n')
}

/** Rewrites an error of commander: "trunkline: unknown command 'chekc'; did you mean 'check'?". */
const errorText = (text: string): string =>
  invalidValueText(text)
    .replace(/^error: /, 'trunkline: ')
    .replace(/\n\(Did you mean (?:one of )?(.+)\?\)/, (_, names: string) => {
      const quoted = names.split(', ').map((name) => `'${name}'`)
      return `; did you mean ${quoted.join(' or ')}?`
    })

const optionStart = "error: option '"
const argumentStart = "error: command-argument value '"
const valueStart = "' argument '"
const optionEnd = "' is invalid"
const argumentEnd = "' is invalid for argument '"

/**
 * Rewrites an error about a value: "option '--source <ip>' argument 'x' is invalid. It must be an IP
 * address." becomes "option '--source' must be an IP address, not 'x'". The value may be any text, so no
 * expression reads it.
 */
const invalidValueText = (text: string): string => {
  const at = text.lastIndexOf('. It must be ')
  if (at === -1) return text
  const before = text.slice(0, at)
  const rule = text.slice(at + '. It '.length).replace(/\.\n?$/, '')
  if (before.startsWith(optionStart) && before.endsWith(optionEnd)) {
    const [name] = before.slice(optionStart.length).split(/[ ']/, 1)
    const value = before.slice(before.indexOf(valueStart) + valueStart.length, -optionEnd.length)
    return `error: option '${name}' ${rule}, not '${value}'\n`
  }
  const end = before.lastIndexOf(argumentEnd)
  if (!before.startsWith(argumentStart) || end === -1) return text
  const name = before.slice(end + argumentEnd.length, -1)
  return `error: argument '${name}' ${rule}, not '${before.slice(argumentStart.length, end)}'\n`
}

/** Returns a phrase as a sentence. */
const sentence = (phrase: string): string => `${phrase[0]?.toUpperCase()}${phrase.slice(1)}.`
