import { describe, expect, it } from 'vitest'
import { PathTrial, type TrialReport } from './path-trial.ts'

const baseRttMs = 30

/**
 * Runs a trial whose viewer reports once in a second. Returns its result, the seconds, and the rates in
 * kbit/s.
 */
const tryPath = (path: (rate: number, second: number) => Partial<TrialReport>) => {
  const trial = new PathTrial(0, baseRttMs)
  const rates = [trial.rate / 1000]
  for (let second = 1; second <= 60; second++) {
    const report = { jitterMs: 2, rttMs: baseRttMs, isNew: true, hasLoss: false, ...path(trial.rate, second) }
    const result = trial.observe(second * 1000, report)
    if (result !== 'running') return { result, second, rates }
    if (rates.at(-1) !== trial.rate / 1000) rates.push(trial.rate / 1000)
  }
  throw new Error('the trial does not end')
}

/** Path with a load of 340 kbit/s, whose queue grows with what is more than its rate, in kbit/s. */
const narrow = (kbps: number, { noiseMs = 0 } = {}) => {
  let queueMs = 0
  return (rate: number): Partial<TrialReport> => {
    queueMs = Math.max(0, queueMs + (1000 * (340 + rate / 1000 - kbps)) / kbps)
    // 15 bursts in two seconds of 30 frames, and their delay for the first packets of the frames between.
    return { jitterMs: noiseMs + (2 * rate) / 15 / kbps, rttMs: baseRttMs + queueMs }
  }
}

describe('a trial of a path', () => {
  it('is short over a quick path', () => {
    expect(tryPath(narrow(10_000))).toEqual({ result: 'passed', second: 3, rates: [60, 100] })
  })

  it('goes through all rates over a wide path whose delays vary by themselves', () => {
    const rates = [60, 100, 150, 200, 260, 340, 440, 580, 760, 1000, 1300]
    expect(tryPath(narrow(10_000, { noiseMs: 70 }))).toEqual({ result: 'passed', second: 22, rates })
  })

  it.each([
    [400, 100],
    [500, 200],
    [800, 580],
    [1400, 1300],
  ])('fails over a path of %i kbit/s at the rate that does not fit, with a short queue', (kbps, highest) => {
    const path = narrow(kbps)
    let longest = 0
    const { result, rates } = tryPath((rate) => {
      const report = path(rate)
      longest = Math.max(longest, report.rttMs! - baseRttMs)
      return report
    })
    expect([result, Math.max(...rates) <= highest]).toEqual(['failed', true])
    expect(longest).toBeLessThan(350)
  })

  it.each([400, 500, 800])(
    'fails over %i kbit/s before packets are lost, with reports of a second before',
    (kbps) => {
      const path = narrow(kbps, { noiseMs: 20 })
      const passed: Partial<TrialReport>[] = [{ jitterMs: 20 }]
      let longest = 0
      const { result } = tryPath((rate) => {
        passed.push(path(rate))
        longest = Math.max(longest, passed.at(-1)!.rttMs! - baseRttMs)
        return passed.at(-2)!
      })
      expect(result).toBe('failed')
      expect(longest).toBeLessThan(500)
    },
  )

  it('fails with the first lost packets', () => {
    expect(tryPath((_, second) => ({ jitterMs: 20, hasLoss: second === 2 }))).toMatchObject({
      result: 'failed',
      second: 2,
    })
  })

  it('fails without new reports', () => {
    expect(tryPath(() => ({ isNew: false })).result).toBe('failed')
  })
})
