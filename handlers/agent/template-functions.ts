import { calculate } from '../common/arithmetic.ts'
import type { TemplateFunction } from '../common/placeholders.ts'
import { strftime } from '../common/strftime.ts'

type Apply = (argument: string, now: number) => string

const time: Apply = (argument, now) => {
  const [timeZone = ''] = argument.split(/\s/, 1)
  return strftime(now, timeZone, argument.slice(timeZone.length).trim())
}

const functions: Readonly<Record<TemplateFunction, Apply>> = {
  strftime_tz: time,
  expr: (argument) => String(calculate(argument) ?? ''),
  echo: (argument) => argument,
  separate: (argument) => [...argument.replace(/\s+/g, '')].join(' '),
}

/**
 * Applies a template function such as `@{expr 1+2}` to its argument. A faulty argument gives an empty text.
 * `now`: milliseconds since the epoch. Never throws.
 */
export const applyTemplate = (name: TemplateFunction, argument: string, now: number): string => {
  try {
    return functions[name](argument, now)
  } catch {
    return ''
  }
}
