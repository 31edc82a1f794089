import { maxExpressionLength } from './placeholders.ts'

/** Text that is being read, with the position in it. */
interface Reader {
  readonly text: string
  at: number
  /** Whether it is no arithmetic: its value counts for nothing. */
  isFaulty: boolean
}

const failed = (reader: Reader): number => {
  reader.isFaulty = true
  return Number.NaN
}

const peek = ({ text, at }: Reader): string => text[at] ?? ''

const number = /(?:\d+\.?\d*|\.\d+)/y

/** Reads a number, a sign with an operand, or a sum in parentheses. */
const operand = (reader: Reader): number => {
  const character = peek(reader)
  if (character === '-' || character === '+') {
    reader.at++
    return character === '-' ? -operand(reader) : operand(reader)
  }
  if (character === '(') {
    reader.at++
    const value = sum(reader)
    if (peek(reader) !== ')') return failed(reader)
    reader.at++
    return value
  }
  number.lastIndex = reader.at
  const [digits] = number.exec(reader.text) ?? []
  if (digits === undefined) return failed(reader)
  reader.at += digits.length
  return Number(digits)
}

const product = (reader: Reader): number => {
  let value = operand(reader)
  for (let sign = peek(reader); sign === '*' || sign === '/'; sign = peek(reader)) {
    reader.at++
    value = sign === '*' ? value * operand(reader) : value / operand(reader)
  }
  return value
}

const sum = (reader: Reader): number => {
  let value = product(reader)
  for (let sign = peek(reader); sign === '+' || sign === '-'; sign = peek(reader)) {
    reader.at++
    value = sign === '+' ? value + product(reader) : value - product(reader)
  }
  return value
}

const syntax = 'must contain only numbers, + - * / and parentheses'

/**
 * Calculates numbers with + - * / and parentheses. Returns the fault, for instance `must have a finite
 * result`, for any other text, for one of more than {@link maxExpressionLength} characters, and for a result
 * that is not finite.
 */
export const calculated = (expression: string): number | string => {
  if (expression.length > maxExpressionLength) return `must have at most ${maxExpressionLength} characters`
  // Blanks separate numbers: "1 2" is no number.
  if (/[\d.]\s+[\d.]/.test(expression)) return syntax
  const reader = { text: expression.replace(/\s+/g, ''), at: 0, isFaulty: false }
  const value = sum(reader)
  if (reader.isFaulty || reader.at < reader.text.length) return syntax
  return Number.isFinite(value) ? value : 'must have a finite result: it divides by zero, or is too large'
}

/** Calculates as {@link calculated}; undefined in place of a fault. */
export const calculate = (expression: string): number | undefined => {
  const value = calculated(expression)
  return typeof value === 'number' ? value : undefined
}
