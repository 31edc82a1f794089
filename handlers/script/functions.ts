import { maxExpressionLength, type TemplateFunction } from '../common/placeholders.ts'
import { VerbFailed } from '../verbs.ts'
import { codes } from './codes.ts'
import { strftime } from './strftime.ts'

/** Collaborators of template functions. */
export interface FunctionDeps {
  /** Present time in milliseconds since the epoch. */
  readonly now: number
  /** Evaluates JavaScript. Throws {@link VerbFailed}. */
  evaluate(expression: string): Promise<unknown>
}

type Apply = (argument: string, deps: FunctionDeps) => string | Promise<string>

const time: Apply = (argument, { now }) => {
  const [timeZone = ''] = argument.split(/\s/, 1)
  try {
    return strftime(now, timeZone, argument.slice(timeZone.length).trim())
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw failed(
      `strftime_tz must begin with a time zone such as Europe/Berlin, not ${timeZone.slice(0, 64)}`,
    )
  }
}

/**
 * Evaluates arithmetic. Accepts numbers and operators only: anything else could come from callers and
 * servers.
 */
const calculation: Apply = async (argument, { evaluate }) => {
  if (
    !/^[-+*/().\d\s]+$/.test(argument) ||
    /\*\*|\/\//.test(argument) ||
    argument.length > maxExpressionLength
  )
    throw failed('expr must contain only numbers, + - * / and parentheses')
  // JavaScript reads a number with a leading zero as octal.
  const decimal = argument.replace(/(?<![\d.])0+(?=\d)/g, '')
  return String(await evaluate(`(${decimal})`))
}

const functions: Readonly<Record<TemplateFunction, Apply>> = {
  strftime_tz: time,
  expr: calculation,
  echo: (argument) => argument,
  separate: (argument) => [...argument.replace(/\s+/g, '')].join(' '),
}

/** Applies a template function to its argument. Throws {@link VerbFailed}. */
export const applyFunction = async (
  name: TemplateFunction,
  argument: string,
  deps: FunctionDeps,
): Promise<string> => functions[name](argument, deps)

const failed = (message: string): VerbFailed => new VerbFailed(codes.expression, `${message}.`)
