import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { assignLines } from './line-assignment.ts'

const ids = ['a', 'b', 'c', 'd', 'e', 'f']
const someIds = fc.uniqueArray(fc.constantFrom(...ids))

describe('the assignment of sources to lines', () => {
  it('gives each wanted source one line, and keeps the line of each one that has one', () => {
    const lines = fc.uniqueArray(fc.constantFrom(...ids), { maxLength: 4 })
    fc.assert(
      fc.property(lines, fc.integer({ min: 0, max: 3 }), someIds, (taken, empty, wanted) => {
        const before = [...taken, ...Array<undefined>(empty).fill(undefined)]
        const after = assignLines(before, wanted, [])
        const shown = wanted.slice(0, before.length)
        expect(after).toHaveLength(before.length)
        for (const id of shown) {
          expect(after.filter((each) => each === id)).toHaveLength(1)
          if (before.includes(id)) expect(after.indexOf(id)).toBe(before.indexOf(id))
        }
        // A source that is not wanted stays until its line is needed, and never moves.
        for (const [index, id] of after.entries())
          if (id !== undefined && !shown.includes(id)) expect(before[index]).toBe(id)
      }),
    )
  })

  it('takes empty lines first, then the line that is unwanted for the longest time', () => {
    expect(assignLines(['a', 'b', undefined], ['c'], [1, 0])).toEqual(['a', 'b', 'c'])
    expect(assignLines(['a', 'b', 'c'], ['d'], [1, 0])).toEqual(['a', 'd', 'c'])
    expect(assignLines(['a', 'b'], ['a', 'c', 'd'], [])).toEqual(['a', 'c'])
  })
})
