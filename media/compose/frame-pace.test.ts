import { describe, expect, it } from 'vitest'
import { FramePace } from './frame-pace.ts'

const interval = 1000 / 30

/** Lets sources send pictures at their phases in ms, and returns the waits of the pictures by source. */
const waitsOf = (phases: readonly number[], frames: number, jitter: (n: number) => number = () => 0) => {
  const pace = new FramePace(-1000)
  const pictures = phases
    .flatMap((phase, source) =>
      Array.from({ length: frames }, (_, n) => ({ source, at: n * interval + phase + jitter(n + source) })),
    )
    .sort((a, b) => a.at - b.at)
  const waits = phases.map((): number[] => [])
  const drawn: number[] = []
  let waiting: typeof pictures = []
  const draw = (until: number) => {
    const due = pace.soonest(interval)
    const [first] = waiting
    const at = Math.max(due, first?.at ?? Number.POSITIVE_INFINITY)
    if (at > until) return
    for (const { source, at: arrivedAt } of waiting) waits[source]!.push(at - arrivedAt)
    waiting = []
    drawn.push(at)
    pace.drawn(at, due, interval)
  }
  for (const picture of pictures) {
    draw(picture.at)
    waiting.push(picture)
    pace.arrived(`${picture.source}`, picture.at)
  }
  return { waits, drawn }
}

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

describe('the pace of frames', () => {
  it('draws the pictures of one source when they come', () => {
    const { waits, drawn } = waitsOf([7], 100)
    expect(Math.max(...waits[0]!)).toBeLessThan(0.001)
    expect(drawn).toHaveLength(99)
  })

  it('lets no source wait for long that sends shortly after another one', () => {
    const { waits, drawn } = waitsOf([7, 9], 200)
    const late = waits.map((each) => each.slice(40))
    expect(Math.max(...late.flat())).toBeLessThan(7)
    const pauses = drawn.slice(1).map((at, i) => at - drawn[i]!)
    expect(Math.min(...pauses)).toBeGreaterThan(interval / 2 - 0.001)
    expect(Math.max(...pauses)).toBeLessThan(1.5 * interval)
  })

  it.each([
    { phases: [0, 15], most: 13 },
    { phases: [0, 18, 20], most: 13 },
    { phases: [0, 8, 16, 24], most: 17 },
    { phases: [1, 2, 3, 30], most: 8 },
  ])('finds a phase for sources at $phases', ({ phases, most }) => {
    const { waits } = waitsOf(phases, 300, (n) => (n * 7919) % 3)
    expect(meanOf(waits.map((each) => meanOf(each.slice(40))))).toBeLessThan(most)
  })

  it('keeps the rate, whatever the sources do', () => {
    const { drawn } = waitsOf([0, 11, 13, 29], 300, (n) => (n * 7919) % 31)
    expect(drawn.length).toBeLessThanOrEqual(306)
    expect(drawn.length).toBeGreaterThan(280)
  })

  it('leaves out frames that were missed', () => {
    const pace = new FramePace(0)
    pace.drawn(45, interval, interval)
    expect(pace.soonest(interval)).toBeCloseTo(2 * interval)
    pace.drawn(300, 2 * interval, interval)
    expect(pace.soonest(interval)).toBeCloseTo(300 + interval)
  })
})
