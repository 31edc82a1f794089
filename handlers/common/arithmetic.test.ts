import { expect, it } from 'vitest'
import { calculate, calculated } from './arithmetic.ts'

it.each([
  ['1+2', 3],
  ['2 + 3 * 4', 14],
  ['(2 + 3) * -4', -20],
  ['10 / 4 - .5', 2],
  ['8 - 2 - 1', 5],
  ['007 * 2.', 14],
  ['--3', 3],
])('calculates %s', (expression, result) => {
  expect(calculate(expression)).toBe(result)
})

it.each(['', '1 +', '(1', '1)', '1 2', 'a', '1; 2', '2 ** 3', '1 / 0', '1e3', '.', '1'.repeat(1025)])(
  'calculates nothing of %j',
  (expression) => {
    expect(calculate(expression)).toBeUndefined()
  },
)

it.each([
  ['1 / 0', 'must have a finite result: it divides by zero, or is too large'],
  ['0 / (1 - 1)', 'must have a finite result: it divides by zero, or is too large'],
  ['9'.repeat(400), 'must have a finite result: it divides by zero, or is too large'],
  ['1'.repeat(1025), 'must have at most 1024 characters'],
  ['(1 / 0', 'must contain only numbers, + - * / and parentheses'],
  ['1 / 0 x', 'must contain only numbers, + - * / and parentheses'],
])('names the cause for which %j has no result', (expression, fault) => {
  expect(calculated(expression)).toBe(fault)
})

it('takes linear time for nested parentheses', () => {
  expect(calculate(`${'('.repeat(500)}1${')'.repeat(500)}`)).toBe(1)
  expect(calculate('('.repeat(1024))).toBeUndefined()
})
