import { VerbFailed } from '../verbs.ts'
import { codes } from './codes.ts'
import { maxExpressionLength, type TemplateFunction } from './placeholders.ts'
import { strftime } from './strftime.ts'

/** What functions of templates are worked out with. */
export interface FunctionDeps {
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Evaluates JavaScript. Throws {@link VerbFailed}. */
  evaluate(expression: string): Promise<unknown>
}

type Apply = (argument: string, parts: FunctionDeps) => string | Promise<string>

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

/** Numbers alone, as the language says: what else is in the argument comes from callers and servers. */
const calculation: Apply = async (argument, { evaluate }) => {
  if (
    !/^[-+*/().\d\s]+$/.test(argument) ||
    /\*\*|\/\//.test(argument) ||
    argument.length > maxExpressionLength
  )
    throw failed('expr must have numbers, + - * / and parentheses alone')
  // JavaScript would take a number that begins with a zero for an octal one.
  const decimal = argument.replace(/(?<![\d.])0+(?=\d)/g, '')
  return String(await evaluate(`(${decimal})`))
}

const functions: Readonly<Record<TemplateFunction, Apply>> = {
  strftime_tz: time,
  expr: calculation,
  echo: (argument) => argument,
  separate: (argument) => [...argument.replace(/\s+/g, '')].join(' '),
}

/** The text that a function makes of its argument. Throws {@link VerbFailed}. */
export const applyFunction = async (
  name: TemplateFunction,
  argument: string,
  parts: FunctionDeps,
): Promise<string> => functions[name](argument, parts)

const failed = (message: string): VerbFailed => new VerbFailed(codes.expression, `${message}.`)
