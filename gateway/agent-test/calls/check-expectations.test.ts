import { expect, it } from 'vitest'
import type { Expectations } from '../scenario/scenario.ts'
import { answeredCall } from '../testing/answered-call.ts'
import { checkExpectations } from './check-expectations.ts'
import type { TestedCall } from './tested-call.ts'

const nothing: Expectations = { calls: [], says: [], saysNever: [] }

/** Returns the failures of expectations. */
const failures = (expected: Partial<Expectations>, ...calls: TestedCall[]): readonly string[] =>
  checkExpectations(calls.length > 0 ? calls : [answeredCall()], { ...nothing, ...expected }).flatMap(
    (check) => check.failures,
  )

it('is met by a call that is as expected', () => {
  const checks = checkExpectations([answeredCall()], {
    gapMs: 900,
    yieldMs: 150,
    goOnMs: 200,
    endedBy: 'agent',
    calls: [
      { name: 'book', args: { people: 2 } },
      { name: 'cancel', args: {}, times: 0 },
    ],
    says: ['booked for'],
    saysNever: ['book'],
  })
  expect(checks.map(({ name }) => name)).toEqual([
    'every step was performed',
    'gap at most 900 ms',
    'yields within 150 ms',
    'goes on within 200 ms',
    'ended by the agent',
    'calls book with {"people":2}',
    'never calls cancel',
    'says “booked for”',
    'never says “book”',
  ])
  expect(checks.every(({ hasPassed }) => hasPassed)).toBe(true)
})

it.each<[Partial<Expectations>, string]>([
  [{ gapMs: 399 }, 'Call 1: the answer to the turn at 1.0 s came after 400 ms.'],
  [{ yieldMs: 149 }, 'Call 1: the agent yielded after 150 ms to the interruption at 5.0 s.'],
  [{ endedBy: 'caller' }, 'Call 1: the agent ended it.'],
  [{ calls: [{ name: 'cancel', args: {} }] }, 'Call 1: it was called 0 times.'],
  [{ calls: [{ name: 'book', args: {}, times: 2 }] }, 'Call 1: it was called once.'],
  [
    { calls: [{ name: 'book', args: { people: 3 } }] },
    'Call 1: its arguments were {"people":2,"day":"Friday"}.',
  ],
  [{ says: ['booked for 9'] }, 'Call 1: the agent did not say it.'],
  [{ saysNever: ['BOOKED'] }, "Call 1: the agent said “It's booked, for 8.” at 2.4 s."],
])('fails: %j', (expected, failure) => {
  expect(failures(expected)[0]).toBe(failure)
})

it('fails without a case that could be measured', () => {
  const { scores } = answeredCall().answered!
  const silent = answeredCall({ scores: { ...scores, turns: [], yields: [], keeps: [] } })
  expect(failures({ gapMs: 1, yieldMs: 1, goOnMs: 1 }, silent)).toEqual([
    'Call 1: the caller had no turn.',
    'Call 1: no interruption was over the voice of the agent.',
    'Call 1: no acknowledgement, cough or echo was over the voice of the agent.',
  ])
})

it('fails for a turn without an answer, a voice that did not go on, and a stop under an echo', () => {
  const { scores } = answeredCall().answered!
  const place = { text: '', fromMs: 1000, toMs: 2000 }
  const deaf = answeredCall({
    scores: {
      ...scores,
      turns: [{ ...place, isEarly: false }],
      keeps: [{ ...place, kind: 'cough', hasKept: false }],
      yields: [{ ...place, hasYielded: false }],
    },
  })
  expect(failures({ gapMs: 1, yieldMs: 1, goOnMs: 1 }, deaf)).toEqual([
    'Call 1: the turn at 1.0 s had no answer.',
    'Call 1: the agent did not yield to the interruption at 1.0 s.',
    'Call 1: the agent did not go on at the cough at 1.0 s.',
  ])
  const echoing = answeredCall({ scores: { ...scores, echo: { spokenMs: 3000, stops: 1 } } })
  expect(failures({ goOnMs: 500 }, echoing)).toEqual(['Call 1: the agent stopped once under an echo.'])
})

it('knows no words without a report', () => {
  const unreported = answeredCall({ hasReport: false })
  expect(failures({ saysNever: ['x'] }, unreported)).toEqual([
    'Call 1: the agent sent no report, so its words are unknown.',
  ])
})

it('fails for each call with a problem, and for one that was not answered', () => {
  const refused: TestedCall = { number: 2, problems: ['The call was refused with 404 Not Found.'] }
  expect(failures({ endedBy: 'agent' }, answeredCall(), refused)).toEqual([
    'Call 2: The call was refused with 404 Not Found.',
    'Call 2: it was not answered.',
  ])
})
