import { expect, it } from 'vitest'
import { tableCell } from './table-cell.ts'

it.each([
  ['a tag', 'a <name> of `file:<name>`', 'a &lt;name> of `file:<name>`'],
  ['a bar', 'one | `two|three`', 'one \\| `two\\|three`'],
  ['a line break', 'one\ntwo', 'one two'],
  ['a single backtick', 'the ` of <b>', 'the ` of &lt;b>'],
])('a cell shows %s as it is', (_, text, cell) => {
  expect(tableCell(text)).toBe(cell)
})
