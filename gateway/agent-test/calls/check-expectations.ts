import { isDeepStrictEqual } from 'node:util'
import type { Expectations, ExpectedCall } from '../scenario/scenario.ts'
import { secondsText } from '../seconds-text.ts'
import { wordsOf } from './call-transcript.ts'
import type { AnsweredResult, TestedCall } from './tested-call.ts'

/** Result of one expectation over all calls. */
export interface Check {
  /** Expectation as a phrase, such as `gap at most 800 ms`. */
  readonly name: string
  readonly hasPassed: boolean
  /** Sentences about the calls that failed. */
  readonly failures: readonly string[]
}

/** Returns the problem of an answered call; undefined if it is as expected. */
type Judge = (call: AnsweredResult) => string | undefined

/** Checks all calls of a test. The first check is that every step was performed. */
export const checkExpectations = (calls: readonly TestedCall[], expect: Expectations): readonly Check[] => {
  const performed = calls.flatMap(({ number, problems }) => problems.map((each) => `Call ${number}: ${each}`))
  return [
    checkOf('every step was performed', performed),
    ...judgesOf(expect).map(([name, judge]) =>
      checkOf(
        name,
        calls.flatMap(({ number, answered }) => {
          const problem = answered ? judge(answered) : 'it was not answered.'
          return problem === undefined ? [] : [`Call ${number}: ${problem}`]
        }),
      ),
    ),
  ]
}

const checkOf = (name: string, failures: readonly string[]): Check => ({
  name,
  hasPassed: failures.length === 0,
  failures,
})

const judgesOf = (expect: Expectations): readonly (readonly [string, Judge])[] => {
  const { gapMs, yieldMs, goOnMs, endedBy } = expect
  return [
    ...(gapMs === undefined ? [] : [[`gap at most ${gapMs} ms`, gapJudge(gapMs)] as const]),
    ...(yieldMs === undefined ? [] : [[`yields within ${yieldMs} ms`, yieldJudge(yieldMs)] as const]),
    ...(goOnMs === undefined ? [] : [[`goes on within ${goOnMs} ms`, goOnJudge(goOnMs)] as const]),
    ...(endedBy === undefined ? [] : [[`ended by the ${endedBy}`, endJudge(endedBy)] as const]),
    ...expect.calls.map((call) => [callName(call), callJudge(call)] as const),
    ...expect.says.map((text) => [`says “${text}”`, wordsJudge(text, true)] as const),
    ...expect.saysNever.map((text) => [`never says “${text}”`, wordsJudge(text, false)] as const),
  ]
}

const timesText = (count: number): string => (count === 1 ? 'once' : `${count} times`)

const gapJudge =
  (maxMs: number): Judge =>
  ({ scores: { turns } }) => {
    if (turns.length === 0) return 'the caller had no turn.'
    const silent = turns.find(({ gapMs }) => gapMs === undefined)
    if (silent) return `the turn at ${secondsText(silent.fromMs)} had no answer.`
    const slow = turns.find(({ gapMs }) => gapMs! > maxMs)
    return slow && `the answer to the turn at ${secondsText(slow.fromMs)} came after ${slow.gapMs} ms.`
  }

const yieldJudge =
  (maxMs: number): Judge =>
  ({ scores: { yields } }) => {
    if (yields.length === 0) return 'no interruption was over the voice of the agent.'
    const deaf = yields.find(({ silenceMs }) => silenceMs === undefined || silenceMs > maxMs)
    if (!deaf) return undefined
    const how = deaf.silenceMs === undefined ? 'did not yield' : `yielded after ${deaf.silenceMs} ms`
    return `the agent ${how} to the interruption at ${secondsText(deaf.fromMs)}.`
  }

const goOnJudge =
  (maxMs: number): Judge =>
  ({ scores: { keeps, echo } }) => {
    if (keeps.length === 0 && echo.spokenMs === 0)
      return 'no acknowledgement, cough or echo was over the voice of the agent.'
    if (echo.stops > 0) return `the agent stopped ${timesText(echo.stops)} under an echo.`
    const lost = keeps.find(({ resumeMs }) => resumeMs === undefined || resumeMs > maxMs)
    if (!lost) return undefined
    const when = lost.resumeMs === undefined ? 'did not go on' : `went on after ${lost.resumeMs} ms`
    return `the agent ${when} at the ${lost.kind} at ${secondsText(lost.fromMs)}.`
  }

const endJudge =
  (endedBy: 'agent' | 'caller'): Judge =>
  (call) =>
    call.endedBy === endedBy
      ? undefined
      : call.endedBy === 'limit'
        ? 'the call reached its longest duration.'
        : `the ${call.endedBy} ended it.`

const callName = ({ name, args, times }: ExpectedCall): string => {
  const given = Object.keys(args).length > 0 ? ` with ${JSON.stringify(args)}` : ''
  return times === 0
    ? `never calls ${name}${given}`
    : `calls ${name}${given}${times === undefined ? '' : ` ${timesText(times)}`}`
}

const callJudge =
  ({ name, args, times }: ExpectedCall): Judge =>
  ({ functions, hasReport }) => {
    const named = functions.filter((call) => call.name === name)
    const found = named.filter((call) =>
      Object.entries(args).every(([key, value]) => isDeepStrictEqual(call.args[key], value)),
    )
    if (times === undefined ? found.length > 0 : found.length === times) return undefined
    if (named.length > found.length && found.length === 0)
      return `its arguments were ${named.map((call) => JSON.stringify(call.args)).join(', ')}.`
    const unknown = hasReport ? '' : ' The agent sent no report.'
    return `it was called ${timesText(found.length)}.${unknown}`
  }

const wordsJudge =
  (text: string, isWanted: boolean): Judge =>
  ({ transcript, hasReport }) => {
    if (!hasReport) return 'the agent sent no report, so its words are unknown.'
    const words = ` ${wordsOf(text)} `
    const said = transcript.find(
      (line) => line.who === 'agent' && ` ${wordsOf(line.text ?? '')} `.includes(words),
    )
    if (isWanted) return said ? undefined : 'the agent did not say it.'
    return said && `the agent said “${said.text}” at ${secondsText(said.fromMs)}.`
  }
