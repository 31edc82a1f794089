import { describe, expect, it } from 'vitest'
import { LayerChoice, type ProgramLayer, type ViewerReport } from './layer-choice.ts'

/** Path to a viewer, as its reports show it. */
interface Path {
  /** Share of the packets that are reported missing. */
  readonly missing?: number
  readonly lost?: number
  readonly jitterMs?: number
  readonly rttMs?: number
}

const quick: Path = { jitterMs: 2, rttMs: 30 }
const mobile: Path = { jitterMs: 15, rttMs: 60 }
const lossy: Path = { ...quick, missing: 0.4, lost: 0.4 }

/** A viewer that reports once in a second. */
const viewer = (layer: ProgramLayer) => {
  const choice = new LayerChoice(0, layer)
  let now = 0
  const totals = { packets: 0, missing: 0 }
  /** Lets time pass. Returns the seconds after which the layer changed; undefined if it did not. */
  const pass = (seconds: number, path: (second: number) => Path): number | undefined => {
    for (let second = 1; second <= seconds; second++) {
      const { missing = 0, lost = 0, jitterMs = 0, rttMs = 0 } = path(second)
      now += 1000
      totals.packets += 50
      totals.missing += 50 * missing
      const report: ViewerReport = { ...totals, lost, jitterMs, rttMs }
      if (choice.observe(now, report)) return second
    }
    return undefined
  }
  return { choice, pass, totals }
}

describe('the layer of a viewer', () => {
  it('is the high one soon over a quick path, and later over a jittery one', () => {
    expect(viewer('low').pass(60, () => quick)).toBe(3)
    expect(viewer('low').pass(60, () => mobile)).toBe(20)
  })

  it('stays low over a path whose packets spread and queue', () => {
    const narrow = (second: number): Path => ({ jitterMs: 24, rttMs: second % 2 ? 40 : 160 })
    expect(viewer('low').pass(299, narrow)).toBeUndefined()
  })

  it('stays low until packets were sent', () => {
    const { choice } = viewer('low')
    const none: ViewerReport = { packets: 0, missing: 0, lost: 0, jitterMs: 0, rttMs: 0 }
    for (let now = 0; now < 60_000; now += 1000) expect(choice.observe(now, none)).toBe(false)
  })

  it.each([
    ['missing packets', { ...quick, missing: 0.2 }],
    ['reported loss', { ...quick, lost: 0.2 }],
  ])('is the low one at once with much loss: %s', (_name, path) => {
    const { choice, pass } = viewer('high')
    expect(pass(30, () => quick)).toBeUndefined()
    expect(pass(5, () => path)).toBe(1)
    expect(choice.layer).toBe('low')
  })

  it('is the low one when the queue of the path is full, although nothing is lost', () => {
    const { pass } = viewer('high')
    expect(pass(10, () => quick)).toBeUndefined()
    expect(pass(5, () => ({ ...quick, rttMs: 900 }))).toBe(1)
    expect(viewer('high').pass(60, () => ({ ...quick, rttMs: 700 }))).toBeUndefined()
  })

  it('bears the loss that is usual without congestion', () => {
    expect(viewer('high').pass(120, () => ({ ...quick, missing: 0.05, lost: 0.05 }))).toBeUndefined()
  })

  it('is tried again after a time that doubles with each failure, and is short again after success', () => {
    const { pass } = viewer('high')
    const waits: (number | undefined)[] = []
    for (let i = 0; i < 8; i++) {
      expect(pass(2, () => lossy)).toBe(1)
      waits.push(pass(700, () => quick))
    }
    expect(waits).toEqual([10, 20, 40, 80, 160, 320, 600, 600])
    expect(pass(60, () => quick)).toBeUndefined()
    expect(pass(2, () => lossy)).toBe(1)
    expect(pass(700, () => quick)).toBe(10)
  })
})
