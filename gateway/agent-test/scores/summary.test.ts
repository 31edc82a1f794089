import { expect, it } from 'vitest'
import { recordingOf, sound } from '../testing/synthetic-call.ts'
import { scoreCall } from './call-scores.ts'
import { quantile } from './quantile.ts'
import { summarize } from './summary.ts'

it('finds quantiles by the nearest rank', () => {
  const values = Array.from({ length: 20 }, (_, index) => 20 - index)
  expect([0.5, 0.95, 1].map((share) => quantile(values, share))).toEqual([10, 19, 20])
  expect(quantile([], 0.5)).toBeNaN()
})

it('adds up the scores of several calls', () => {
  const calls = [300, 500, 1100].map((gap) =>
    scoreCall(recordingOf(5000, [{ fromMs: 2000 + gap, toMs: 4000 }], [sound(1000, 2000)]), -55),
  )
  const silent = scoreCall(recordingOf(5000, [], [sound(1000, 2000), sound(3000, 4000, 'cough')]), -55)
  expect(summarize([...calls, silent])).toMatchObject({
    response: { good: 3, of: 4 },
    gap: { count: 3, p50: 500, p95: 1100, max: 1100 },
    yield: { good: 0, of: 0 },
    selectivity: { good: 0, of: 0 },
    unscored: 1,
    early: 0,
    longestGapMs: 1100,
  })
})

it('leaves out figures without a case', () => {
  const summary = summarize([])
  expect(Object.keys(summary)).not.toContain('gap')
  expect(summary).toMatchObject({ silenceShare: 0, longestGapMs: 0 })
})

it('adds up more values than a function takes as arguments', () => {
  const call = scoreCall(recordingOf(5000, [], [sound(1000, 2000)]), -55)
  const turns = Array.from({ length: 150_000 }, (_, gapMs) => ({ ...call.turns[0]!, gapMs }))
  expect(summarize([{ ...call, turns }]).gap).toMatchObject({ count: 150_000, max: 149_999 })
})
