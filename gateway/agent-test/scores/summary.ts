import type { CallScores } from './call-scores.ts'
import { quantile } from './quantile.ts'

/** Distribution of times in ms. */
export interface Times {
  readonly count: number
  readonly p50: number
  readonly p95: number
  readonly max: number
}

/** Share of cases that went well. */
export interface Share {
  readonly good: number
  readonly of: number
}

/** Scores of all calls of a test. A figure is undefined if no call had a case of it. */
export interface Summary {
  /** Turns that the agent answered, and those it did not let the caller finish. */
  readonly response: Share
  readonly early: number
  readonly gap?: Times
  /** Interruptions to which the agent yielded within 2 s. */
  readonly yield: Share
  readonly fade?: Times
  readonly silence?: Times
  /** Acknowledgements and coughs after which the agent went on. */
  readonly selectivity: Share
  readonly resume?: Times
  /** Agent's voice under an echo, and the stops in it. */
  readonly echo?: { readonly spokenMs: number; readonly stops: number }
  readonly unscored: number
  readonly overlapMs: number
  /** Share of the time without sound of either side, 0 to 1. */
  readonly silenceShare: number
  readonly longestGapMs: number
  /** Median of the levels of the calls, in dBov. */
  readonly levelDb?: number
}

/** Returns the scores of several calls together. */
export const summarize = (calls: readonly CallScores[]): Summary => {
  const turns = calls.flatMap((call) => call.turns)
  const yields = calls.flatMap((call) => call.yields)
  const keeps = calls.flatMap((call) => call.keeps)
  const levels = calls.flatMap(({ levelDb }) => levelDb ?? [])
  const sum = (of: (call: CallScores) => number): number => calls.reduce((total, call) => total + of(call), 0)
  const ms = sum((call) => call.ms)
  const spokenMs = sum(({ echo }) => echo.spokenMs)
  return {
    response: shareOf(turns, ({ gapMs }) => gapMs !== undefined),
    early: turns.filter(({ isEarly }) => isEarly).length,
    ...named('gap', timesOf(turns.map(({ gapMs }) => gapMs))),
    yield: shareOf(yields, ({ hasYielded }) => hasYielded),
    ...named('fade', timesOf(yields.map(({ fadeMs }) => fadeMs))),
    ...named('silence', timesOf(yields.map(({ silenceMs }) => silenceMs))),
    selectivity: shareOf(keeps, ({ hasKept }) => hasKept),
    ...named('resume', timesOf(keeps.map(({ resumeMs }) => resumeMs))),
    ...(spokenMs > 0 && { echo: { spokenMs, stops: sum(({ echo }) => echo.stops) } }),
    unscored: sum(({ unscored }) => unscored),
    overlapMs: sum(({ overlapMs }) => overlapMs),
    silenceShare: ms === 0 ? 0 : sum(({ silenceMs }) => silenceMs) / ms,
    longestGapMs: maxOf([0, ...calls.map(({ longestGapMs }) => longestGapMs)]),
    ...(levels.length > 0 && { levelDb: quantile(levels, 0.5) }),
  }
}

const shareOf = <T>(cases: readonly T[], isGood: (each: T) => boolean): Share => ({
  good: cases.filter(isGood).length,
  of: cases.length,
})

const named = <K extends string>(name: K, times: Times | undefined): Partial<Record<K, Times>> =>
  (times ? { [name]: times } : {}) as Partial<Record<K, Times>>

/** Returns the maximum. As arguments of one call, the values of many calls would overflow the stack. */
const maxOf = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b))

const timesOf = (values: readonly (number | undefined)[]): Times | undefined => {
  const known = values.filter((value) => value !== undefined)
  if (known.length === 0) return undefined
  return {
    count: known.length,
    p50: quantile(known, 0.5),
    p95: quantile(known, 0.95),
    max: maxOf(known),
  }
}
