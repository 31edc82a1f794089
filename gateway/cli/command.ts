/** Description of a command, from which the help, the completion and the reference page are made. */
import type { ReloadSignal } from '../app/shutdown.ts'

/** Headings of the command list, in the order of the help. */
export const commandGroups = ['Start', 'Look', 'Act', 'Data', 'Keys', 'Shell'] as const

/** Kind of words that a shell completes for a value. */
export type Completion = 'file' | 'folder' | 'command'

interface ValueDescription {
  /** Noun phrase without a final stop. */
  readonly description: string
  /** Value if the user gives none. */
  readonly default?: string
  /** Only these values are valid. Capital letters do not matter. */
  readonly choices?: readonly string[]
  /** Converts the text. Throws InvalidArgumentError of commander, with a sentence, if the text is invalid. */
  readonly parse?: (text: string) => unknown
  /** Default: nothing is completed except `choices`. */
  readonly completes?: Completion
}

/** Description of an argument. Its key in the command is its name. */
export interface ArgumentDescription extends ValueDescription {
  /** Whether the user may leave the argument out; implied by a default. Default: false. */
  readonly optional?: true
}

/** Description of an option. Its key in the command is its name: `dryRun` becomes `--dry-run`. */
export interface OptionDescription extends ValueDescription {
  /** Name of the value in the help. An option without it is a switch, false by default. */
  readonly value?: string
  /** Whether the user must give the option. Default: false. */
  readonly required?: true
  /** Whether the user may give the option several times; the result is a list. Default: false. */
  readonly repeats?: true
}

/** One example of a command. */
export interface CommandExample {
  /** Everything after `trunkline `. */
  readonly line: string
  /** Effect, as a verb phrase. */
  readonly effect: string
}

/** Parts of the process that a command may use. */
export interface CommandContext {
  /** Every command, in the order of the help. */
  readonly commands: readonly Command[]
  /** Receives SIGHUP. */
  readonly reloading: Pick<ReloadSignal, 'ready'>
  /** Prints the help of a command, or of the program, and ends the command line. */
  readonly printHelp: (name?: string) => Promise<void>
}

/** One command as the table holds it. */
export interface Command {
  readonly name: string
  readonly group: (typeof commandGroups)[number]
  /** One line for the list of commands: a verb phrase without a final stop. */
  readonly summary: string
  /** Sentences below the usage line; default: the summary. */
  readonly description?: string
  readonly arguments: Readonly<Record<string, ArgumentDescription>>
  readonly options: Readonly<Record<string, OptionDescription>>
  /** One to three examples. */
  readonly examples: readonly CommandExample[]
  /** Meaning of each exit code. */
  readonly exitCodes: Readonly<Record<number, string>>
  /** Carries the command out with the values of its arguments and options. Resolves with the exit code. */
  readonly run: (values: Readonly<Record<string, unknown>>, context: CommandContext) => Promise<number>
}

type Parsed<D> = D extends { readonly choices: readonly (infer Choice)[] }
  ? Choice
  : D extends { readonly parse: (text: string) => infer Value }
    ? Value
    : string

type ArgumentValue<D> = D extends { readonly default: string }
  ? Parsed<D>
  : D extends { readonly optional: true }
    ? Parsed<D> | undefined
    : Parsed<D>

type OptionValue<D> = D extends { readonly value: string }
  ? D extends { readonly repeats: true }
    ? readonly Parsed<D>[]
    : D extends { readonly default: string } | { readonly required: true }
      ? Parsed<D>
      : Parsed<D> | undefined
  : boolean

/** Values of a command's arguments and options, by their keys. */
export type CommandValues<A, O> = { readonly [Key in keyof A]: ArgumentValue<A[Key]> } & {
  readonly [Key in keyof O]: OptionValue<O[Key]>
}

type Arguments = Readonly<Record<string, ArgumentDescription>>
type Options = Readonly<Record<string, OptionDescription>>

/**
 * Makes a {@link Command}. `run` receives the values with the types that the descriptions imply. It imports
 * the modules that it needs, so that the help loads none of them.
 */
export const defineCommand = <const A extends Arguments, const O extends Options>(
  description: Omit<Command, 'arguments' | 'options' | 'run'> & {
    readonly arguments: A
    readonly options: O
    readonly run: (values: CommandValues<A, O>, context: CommandContext) => Promise<number>
  },
): Command => description as unknown as Command

/** The argument that names the configuration file. */
export const configFile = {
  description: 'configuration file',
  default: 'trunkline.yaml',
  completes: 'file',
} as const satisfies ArgumentDescription

/** The option that makes a program able to read the result. */
export const jsonOption = { description: 'print the result as JSON' } as const satisfies OptionDescription

/** Meaning of exit code 2, the same for every command that reads a configuration. */
export const invalidCode = 'the arguments or the configuration are invalid'

/** Returns the name of an option on the command line: `--dry-run` for the key `dryRun`. */
export const optionName = (key: string): string =>
  `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

/** Returns the name of an argument in the help: `request-uri` for the key `requestUri`. */
export const argumentName = (key: string): string => optionName(key).slice(2)
