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
const viewer = (layer: ProgramLayer, { hasLow = true, mayTry = true } = {}) => {
  const choice = new LayerChoice(0, hasLow ? 'low' : 'high')
  let now = 0
  const totals = { packets: 0, missing: 0 }
  /** Lets time pass. Returns the seconds after which the layer changed; undefined if it did not. */
  const pass = (seconds: number, path: (second: number) => Path): number | undefined => {
    for (let second = 1; second <= seconds; second++) {
      const { missing = 0, lost = 0, jitterMs = 0, rttMs = 0 } = path(second)
      now += 1000
      totals.packets += 50
      totals.missing += 50 * missing
      // A viewer's reports differ a little.
      const report: ViewerReport = { ...totals, lost, jitterMs: jitterMs + (second % 2) / 100, rttMs }
      if (choice.observe(now, report, mayTry)) return second
    }
    return undefined
  }
  if (layer !== choice.layer) pass(60, () => quick)
  return { choice, pass, totals }
}

describe('the layer of a viewer', () => {
  it('is the high one soon over a quick path, and later over a jittery one', () => {
    expect(viewer('low').pass(60, () => quick)).toBe(5)
    expect(viewer('low').pass(60, () => mobile)).toBe(15)
    expect(viewer('low').pass(60, () => ({ ...mobile, jitterMs: 90 }))).toBe(24)
  })

  it('stays low over a path whose queue grows with the packets of a trial, and tries it ever less often', () => {
    const { choice, pass } = viewer('low')
    let trials = 0
    let queueMs = 0
    const narrow = (): Path => {
      if (choice.trialRate === 60_000 && queueMs === 0) trials++
      queueMs = choice.trialRate ? queueMs + 150 : 0
      return { jitterMs: 24, rttMs: 40 + queueMs }
    }
    expect(pass(300, narrow)).toBeUndefined()
    expect(trials).toBe(7)
    pass(300, narrow)
    expect(trials).toBeLessThanOrEqual(8)
  })

  it('pauses for a moment after a trial that has lost packets, and stays low', () => {
    const { choice, pass } = viewer('low')
    const full = (): Path => (choice.trialRate ? { ...mobile, missing: 0.5 } : mobile)
    expect(pass(60, full)).toBeGreaterThan(1)
    expect([choice.layer, choice.isPaused, choice.trialRate]).toEqual(['low', true, undefined])
    expect(pass(5, () => mobile)).toBe(1)
    expect([choice.layer, choice.isPaused]).toEqual(['low', false])
  })

  it('is not tried after loss, while packets wait, without reports, or if no trial may begin', () => {
    for (const path of [
      { ...quick, missing: 0.05 },
      { ...quick, rttMs: 0 },
    ]) {
      const { choice, pass } = viewer('low')
      pass(60, () => path)
      expect([choice.layer, choice.trialRate]).toEqual(['low', undefined])
    }
    const waiting = viewer('low')
    waiting.pass(60, (second) => ({ ...quick, rttMs: second === 1 ? 30 : 100 }))
    expect(waiting.choice.layer).toBe('low')
    expect(viewer('low', { mayTry: false }).pass(60, () => quick)).toBeUndefined()
  })

  it('is tried later if the path is far and jittery, or has a queue from the beginning', () => {
    const far: Path = { jitterMs: 40, rttMs: 250 }
    expect(viewer('low').pass(60, () => far)).toBeGreaterThan(20)
    expect(viewer('low').pass(60, () => ({ ...far, jitterMs: 4 }))).toBeLessThan(10)
  })

  it('stays low until packets were sent', () => {
    const { choice } = viewer('low')
    const none: ViewerReport = { packets: 0, missing: 0, lost: 0, jitterMs: 0, rttMs: 0 }
    for (let now = 0; now < 60_000; now += 1000) expect(choice.observe(now, none, true)).toBe(false)
  })

  it.each([
    ['missing packets', { ...quick, missing: 0.2 }],
    ['reported loss', { ...quick, lost: 0.2 }],
  ])('is the low one at once with much loss, after a pause: %s', (_name, path) => {
    const { choice, pass } = viewer('high')
    expect(pass(30, () => quick)).toBeUndefined()
    expect(pass(5, () => path)).toBe(1)
    expect([choice.layer, choice.isPaused]).toEqual(['low', true])
    expect(pass(5, () => quick)).toBe(1)
    expect([choice.layer, choice.isPaused]).toEqual(['low', false])
  })

  it('is the low one when the queue of the path is full, although nothing is lost', () => {
    const { pass } = viewer('high')
    expect(pass(20, () => quick)).toBeUndefined()
    expect(pass(5, () => ({ ...quick, rttMs: 900 }))).toBe(1)
    const far: Path = { ...quick, rttMs: 700 }
    expect(viewer('high', { hasLow: false }).pass(60, () => far)).toBeUndefined()
    const { choice, pass: passFar } = viewer('low')
    passFar(10, () => far)
    expect([choice.layer, passFar(60, () => far)]).toEqual(['high', undefined])
  })

  it('is the low one at the first sign of a queue soon after the step to the high one', () => {
    const { pass } = viewer('high')
    expect(pass(2, () => quick)).toBeUndefined()
    expect(pass(5, () => ({ ...quick, rttMs: 300 }))).toBe(2)
  })

  it('bears the loss that is usual without congestion', () => {
    expect(viewer('high').pass(120, () => ({ ...quick, missing: 0.05, lost: 0.05 }))).toBeUndefined()
  })

  it('is tried again after a time that doubles with each failure, and is short again after success', () => {
    const { choice, pass } = viewer('high')
    const waitFor = (path: Path): number => {
      let seconds = 0
      while (choice.layer === 'low') seconds += pass(700, () => path) ?? 700
      return seconds
    }
    const waits: number[] = []
    for (let i = 0; i < 8; i++) {
      expect(pass(2, () => lossy)).toBe(1)
      waits.push(waitFor(quick))
    }
    expect(waits).toEqual([13, 23, 43, 83, 163, 323, 603, 603])
    expect(pass(60, () => quick)).toBeUndefined()
    expect(pass(2, () => lossy)).toBe(1)
    expect(waitFor(quick)).toBe(13)
  })
})

describe('the picture of a viewer whose path is too narrow for the lowest layer', () => {
  it.each([
    ['low layer', 'low', true],
    ['only layer', 'high', false],
  ] as const)('pauses for a time that doubles with each failure: %s', (_name, layer, hasLow) => {
    const { choice, pass } = viewer(layer, { hasLow, mayTry: false })
    const pauses: (number | undefined)[] = []
    for (let i = 0; i < 6; i++) {
      expect(pass(10, () => lossy)).toBe(i === 0 ? 2 : 1)
      expect(choice.isPaused).toBe(true)
      pauses.push(pass(100, () => quick))
      expect([choice.layer, choice.isPaused]).toEqual([layer, false])
    }
    expect(pauses).toEqual([5, 10, 20, 40, 60, 60])
    pass(100, () => quick)
    expect(pass(10, () => lossy)).toBe(2)
    expect(pass(100, () => quick)).toBe(5)
  })

  it('pauses at once when each packet is missing several times', () => {
    const { choice, pass } = viewer('high', { hasLow: false })
    expect(pass(10, () => ({ ...quick, missing: 3 }))).toBe(1)
    expect(choice.isPaused).toBe(true)
  })

  it('goes on with a moment of loss, and with loss that no queue explains', () => {
    const { pass } = viewer('high', { hasLow: false })
    expect(pass(60, (second) => (second % 2 ? lossy : quick))).toBeUndefined()
    expect(pass(60, () => ({ ...quick, missing: 0.2, lost: 0.2 }))).toBeUndefined()
  })

  it('ends its pause soon when there is a low layer', () => {
    const { choice, pass } = viewer('high', { hasLow: false })
    for (let i = 0; i < 4; i++) {
      pass(10, () => lossy)
      pass(40, () => quick)
    }
    pass(10, () => lossy)
    const now = 1_000_000
    expect([choice.isPaused, choice.setLow(now, true), choice.layer]).toEqual([true, true, 'low'])
    expect(
      choice.observe(now + 1000, { packets: 0, missing: 0, lost: 0, jitterMs: 1, rttMs: 20 }, true),
    ).toBe(true)
    expect(choice.isPaused).toBe(false)
  })

  it('is the low layer, once there is one', () => {
    const { choice, pass } = viewer('high', { hasLow: false })
    pass(10, () => lossy)
    pass(10, () => quick)
    expect([choice.setLow(60_000, true), choice.layer]).toEqual([true, 'low'])
    expect([choice.setLow(61_000, true), choice.layer]).toEqual([false, 'low'])
    expect([choice.setLow(62_000, false), choice.layer]).toEqual([true, 'high'])
  })
})

describe('a program that loses its low layer and gets one again', () => {
  it('keeps the high layer of a viewer whose last trial has passed', () => {
    const { choice, pass } = viewer('high')
    expect([choice.setLow(100_000, false), choice.setLow(110_000, true)]).toEqual([false, false])
    expect(pass(2, () => lossy)).toBe(1)
    expect([choice.setLow(120_000, false), choice.setLow(130_000, true)]).toEqual([true, true])
    expect(choice.layer).toBe('low')
  })
})
