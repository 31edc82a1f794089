import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../core/clock.ts'
import type { RoomLeg, RoomSeat } from '../leg/room-seat.ts'
import { fakeLeg } from '../testing/fake-legs.ts'
import { LocalPair } from './local-pair.ts'

/** A caller of the address of a room, with the reports to its far side and to its seat. */
const setUp = () => {
  const clock = new FakeClock()
  const parties: string[] = []
  const caller = fakeLeg(clock, 'near')
  const near = fakeLeg(clock, 'near', { direction: 'outbound' }).leg
  const far = fakeLeg(clock, 'far').leg
  new LocalPair({
    near,
    far,
    caller: caller.leg,
    groups: ['near', 'far'],
    codec: 'PCMU',
    edge: { open: () => Promise.reject(new Error('no port')) },
    clock,
    log: { error: () => {} },
  })
  const seat = { setParty: ({ id }: RoomLeg) => parties.push(id) } as Partial<RoomSeat> as RoomSeat
  const entered: (readonly [string, boolean])[] = []
  const other = fakeLeg(clock, 'near')
  for (const [name, { far: side }] of [['caller', caller] as const, ['other', other] as const])
    Object.assign(side, { entered: (given: unknown) => entered.push([name, given !== undefined]) })
  return { near, far, caller, other, seat, parties, entered }
}

describe('a room behind an address', () => {
  it('has the party that takes the place of its caller', () => {
    const { near, far, caller, other, seat, parties, entered } = setUp()
    far.entered(seat)
    near.paired(caller.leg)
    expect([parties, entered]).toEqual([[], [['caller', true]]])
    near.paired(undefined)
    near.paired(other.leg)
    expect(parties).toEqual([other.leg.id])
    expect(entered.slice(1)).toEqual([
      ['caller', false],
      ['other', true],
    ])
    // The former caller does not come back when the other party is put on hold by a document.
    near.paired(undefined)
    expect(parties).toHaveLength(1)
    far.entered(undefined)
    expect(entered.at(-1)).toEqual(['other', false])
  })
})
