import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chooseTracks, type TrackView } from './choose-tracks.ts'

const member = (id: string, change: Partial<TrackView['members'][number]> = {}) => ({
  id,
  type: 'member' as const,
  isVisible: true,
  ...change,
})
const view: TrackView = {
  viewerId: 'me',
  members: ['me', 'a', 'b', 'c', 'd'].map((id) => member(id)),
  speakers: [],
  shown: undefined,
  lines: 9,
}
const chosen = (change: Partial<TrackView>) =>
  chooseTracks({ ...view, ...change }).map(({ memberId }) => memberId)

describe('the choice of cameras for a page', () => {
  it('is all other members in order of joining, up to the number of lines', () => {
    expect(chosen({})).toEqual(['a', 'b', 'c', 'd'])
    expect(chosen({ lines: 2 })).toEqual(['a', 'b'])
  })

  it('has the latest speakers first, then the others', () => {
    expect(chosen({ lines: 3, speakers: ['d', 'me', 'c'] })).toEqual(['d', 'c', 'a'])
  })

  it('has screens and pinned members before the speakers, but no own screen', () => {
    const screens = [
      member('s', { type: 'screen', parentId: 'd' }),
      member('own', { type: 'screen', parentId: 'me' }),
    ]
    const members = [...view.members, ...screens]
    const shown = ['a', 'b', 'c', 's', 'own'].map((memberId) => ({
      memberId,
      width: 200,
      isPinned: memberId === 'b',
    }))
    expect(chosen({ members, shown, speakers: ['c'], lines: 3 })).toEqual(['s', 'b', 'c'])
  })

  it('has the members that the page shows, at their widths', () => {
    const shown = [
      { memberId: 'c', width: 1280 },
      { memberId: 'a', width: 0 },
      { memberId: 'gone', width: 500 },
      { memberId: 'b', width: 90 },
    ]
    expect(chooseTracks({ ...view, shown })).toEqual([
      { memberId: 'c', width: 1280, priority: 100 },
      { memberId: 'b', width: 90, priority: 100 },
    ])
    expect(chosen({ shown: [] })).toEqual([])
  })

  it('is never more than the lines, the viewer, a hidden member, or a member twice', () => {
    const ids = fc.constantFrom('me', 'a', 'b', 'c', 'd', 'e', 'gone')
    const members = fc.uniqueArray(
      fc.record({
        id: ids,
        type: fc.constantFrom('member' as const, 'screen' as const),
        isVisible: fc.boolean(),
      }),
      { selector: ({ id }) => id },
    )
    const shown = fc.option(
      fc.array(fc.record({ memberId: ids, width: fc.nat(4000), isPinned: fc.boolean() })),
      { nil: undefined },
    )
    const views = fc.record({
      viewerId: fc.constant('me'),
      members,
      speakers: fc.uniqueArray(ids),
      shown,
      lines: fc.integer({ min: 1, max: 25 }),
    })
    fc.assert(
      fc.property(views, (any) => {
        const choices = chooseTracks(any)
        const found = choices.map(({ memberId }) => memberId)
        expect(found.length).toBeLessThanOrEqual(any.lines)
        expect(new Set(found).size).toBe(found.length)
        for (const { memberId, width } of choices) {
          expect(memberId).not.toBe('me')
          expect(any.members).toContainEqual(expect.objectContaining({ id: memberId, isVisible: true }))
          expect(width).toBeGreaterThan(0)
        }
        const priorities = choices.map(({ priority }) => priority)
        expect(priorities).toEqual(priorities.toSorted((a, b) => b - a))
        // No visible member that is shown stays out while a line is free.
        const isShown = (id: string) => (any.shown?.findLast((each) => each.memberId === id)?.width ?? 0) > 0
        const wanted = any.members.filter(
          ({ id, isVisible }) => isVisible && id !== 'me' && (!any.shown || isShown(id)),
        )
        expect(found.length).toBe(Math.min(any.lines, wanted.length))
      }),
    )
  })
})
