import { expect, it } from 'vitest'
import type { AgentEvent } from '../verbs.ts'
import { browserEvents } from './browser-events.ts'

const of = (...events: readonly AgentEvent[]) => {
  const next = browserEvents()
  return events.flatMap((event) => next(event)).map(({ type, params }) => [type, params])
}

const user = (text: string, merged: number): AgentEvent => ({
  kind: 'user',
  at: 1,
  text,
  by: 'speech',
  merged,
})

it('shows the caller as recognised, and joined turns', () => {
  expect(
    of({ kind: 'partial', at: 1, text: 'I', isBarge: true }, user('I want', 0), user('I want two', 1)),
  ).toEqual([
    ['ai.partial_result', { text: 'I', barged: true }],
    ['ai.speech_detect', { text: 'I want', type: 'normal' }],
    ['ai.transparent_barge', { combined_text: 'I want two' }],
  ])
})

it('begins each message of the agent with an empty utterance', () => {
  const utterance = (answer: string, text: string): AgentEvent => ({ kind: 'utterance', at: 1, answer, text })
  expect(
    of(utterance('a', 'One.'), utterance('a', 'Two.'), utterance('b', 'Three.')).map(([, params]) => params),
  ).toEqual(['', 'One.', 'Two.', '', 'Three.'].map((text) => ({ utterance: text })))
})

it('completes a message with what was heard', () => {
  const answer = {
    kind: 'answer',
    at: 1,
    answer: 'a',
    heardMs: 1,
    isExact: false,
    calls: [],
    stamps: {},
  } as const
  expect(
    of(
      { ...answer, spoken: 'One two', heard: 'One', isBarged: true },
      { ...answer, spoken: 'Yes', heard: 'Yes', isBarged: false },
      { ...answer, spoken: '', heard: '', isBarged: false },
    ),
  ).toEqual([
    ['ai.completion', { text: 'One', type: 'barged' }],
    ['ai.completion', { text: 'Yes', type: 'normal' }],
  ])
})
