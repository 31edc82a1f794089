import { describe, expect, it } from 'vitest'
import { type Arrival, Placement } from './placement.ts'

/** A placement with what it placed, as times and texts. */
const opened = () => {
  const placed: [number, string][] = []
  const placement = new Placement<Arrival>((at, { data }) => placed.push([at, Buffer.from(data).toString()]))
  return { placed, placement }
}

/** A clock whose sender reports when the test says so. Packets were captured 50 ms before their arrival. */
class FakeClock {
  isKnown = false

  at(now: number): number | undefined {
    return this.isKnown ? now - 50 : undefined
  }
}

const item = (arrivedAt: number, text: string, clock?: FakeClock): Arrival => ({
  arrivedAt,
  at: arrivedAt,
  timestamp: 0,
  data: Buffer.from(text),
  clock,
})

describe('the placement of packets', () => {
  it('is that of their arrival without reports', () => {
    const { placed, placement } = opened()
    placement.add(item(1000, 'a'))
    expect([placed, placement.isWaiting]).toEqual([[[1000, 'a']], false])
  })

  it('waits for the first report of a sender, and changes all that waited', () => {
    const { placed, placement } = opened()
    const clock = new FakeClock()
    placement.add(item(1000, 'still'))
    placement.add(item(1500, 'a', clock))
    placement.add(item(1520, 'b', clock))
    placement.tick(3000)
    expect([placed, placement.isWaiting]).toEqual([[[1000, 'still']], true])
    clock.isKnown = true
    placement.tick(3100)
    placement.add(item(3200, 'c', clock))
    expect(placed.slice(1)).toEqual([
      [1450, 'a'],
      [1470, 'b'],
      [3150, 'c'],
    ])
  })

  it('is that of the arrival after 8 s without a report, once for each stream', () => {
    const { placed, placement } = opened()
    const clock = new FakeClock()
    placement.add(item(1000, 'a', clock))
    placement.add(item(2000, 'b', clock))
    placement.tick(8999)
    expect(placed).toEqual([])
    placement.tick(9000)
    placement.add(item(9100, 'c', clock))
    expect(placed).toEqual([
      [1000, 'a'],
      [2000, 'b'],
      [9100, 'c'],
    ])
    const next = new FakeClock()
    placement.add(item(9200, 'd', next))
    expect(placement.isWaiting).toBe(true)
    // A late report does not bring the times back.
    clock.isKnown = true
    next.isKnown = true
    placement.add(item(9140, 'e', clock))
    placement.add(item(9300, 'f', clock))
    expect(placed.slice(3)).toEqual([
      [9150, 'd'],
      [9150, 'e'],
      [9250, 'f'],
    ])
  })

  it('waits for no more than 4 MB', () => {
    const { placed, placement } = opened()
    const clock = new FakeClock()
    for (let i = 0; i < 5; i++) placement.add(item(1000 + i, 'x'.repeat(1_000_000), clock))
    expect(placed).toHaveLength(5)
  })

  it('ends the wait on request', () => {
    const { placed, placement } = opened()
    placement.add(item(1000, 'a', new FakeClock()))
    placement.flush()
    expect([placed, placement.isWaiting]).toEqual([[[1000, 'a']], false])
  })
})
