/** Tables of measured times beside their goals. */
import { quantile } from '../../../gateway/agent-test/scores/quantile.ts'

/** Upper limits of a figure; default none. */
export interface Goal {
  readonly p50?: number
  readonly p95?: number
  readonly max?: number
}

const verdictOf = (values: readonly number[], { p50, p95, max }: Goal): string => {
  const limits = [
    ['p50', p50, quantile(values, 0.5)],
    ['p95', p95, quantile(values, 0.95)],
    ['each', max, Math.max(...values)],
  ] as const
  const given = limits.filter(([, limit]) => limit !== undefined)
  if (given.length === 0) return ''
  const isMet = values.length > 0 && given.every(([, limit, found]) => found <= limit!)
  return `${isMet ? 'met' : 'MISSED'}: ${given.map(([name, limit]) => `${name} ≤ ${limit}`).join(', ')}`
}

/**
 * Prints one row: quantiles, range and number of the values, and whether the goal is met. Default unit
 * ms.
 */
export const printFigure = (what: string, values: readonly number[], goal: Goal = {}, unit = 'ms'): void => {
  const range =
    values.length === 0
      ? 'no value'
      : `p50 ${Math.round(quantile(values, 0.5))}, p95 ${Math.round(quantile(values, 0.95))}, ` +
        `${Math.round(Math.min(...values))} to ${Math.round(Math.max(...values))} ${unit}, ` +
        `${values.length} values`
  console.log(`${what.padEnd(58)} | ${range.padEnd(46)} | ${verdictOf(values, goal)}`)
}

/** Prints one row with a number that has an upper limit. */
export const printCount = (what: string, value: number, unit: string, max: number): void => {
  const verdict = `${value <= max ? 'met' : 'MISSED'}: ≤ ${max}`
  console.log(`${what.padEnd(58)} | ${`${Math.round(value)} ${unit}`.padEnd(46)} | ${verdict}`)
}
