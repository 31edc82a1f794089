import { calculated } from '../common/arithmetic.ts'
import type { TemplateFunction } from '../common/placeholders.ts'
import { strftime } from '../common/strftime.ts'
import { VerbFailed } from '../verbs.ts'
import { codes } from './codes.ts'

type Apply = (argument: string, now: number) => string

const time: Apply = (argument, now) => {
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

const calculation: Apply = (argument) => {
  const value = calculated(argument)
  if (typeof value === 'string') throw failed(`expr ${value}`)
  return String(value)
}

const functions: Readonly<Record<TemplateFunction, Apply>> = {
  strftime_tz: time,
  expr: calculation,
  echo: (argument) => argument,
  separate: (argument) => [...argument.replace(/\s+/g, '')].join(' '),
}

/**
 * Applies a template function to its argument. `now`: milliseconds since the epoch. Throws
 * {@link VerbFailed}.
 */
export const applyFunction = (name: TemplateFunction, argument: string, now: number): string =>
  functions[name](argument, now)

const failed = (message: string): VerbFailed => new VerbFailed(codes.expression, `${message}.`)
