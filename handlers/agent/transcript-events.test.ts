import { expect, it } from 'vitest'
import type { AgentEvent } from '../verbs.ts'
import { transcriptEvents } from './transcript-events.ts'

const of = (...events: readonly AgentEvent[]) => {
  const next = transcriptEvents()
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
    ['partial_result', { text: 'I', barged: true }],
    ['speech_detect', { text: 'I want', type: 'normal' }],
    ['transparent_barge', { combined_text: 'I want two' }],
  ])
})

it('begins each message of the agent with an empty utterance', () => {
  const utterance = (answer: string, text: string): AgentEvent => ({ kind: 'utterance', at: 1, answer, text })
  expect(
    of(utterance('a', 'One.'), utterance('a', 'Two.'), utterance('b', 'Three.')).map(([, params]) => params),
  ).toEqual(['', 'One.', ' Two.', '', 'Three.'].map((text) => ({ utterance: text })))
})

it('sends pieces of a word as they are, and nothing for an empty piece', () => {
  const utterance = (text: string, isMore?: true): AgentEvent => ({
    kind: 'utterance',
    at: 1,
    answer: 'a',
    text,
    ...(isMore && { isMore }),
  })
  const more = ['believ', 'able', ' ', '', 'so.'].map((text) => utterance(text, true))
  const sent = of(utterance('un'), ...more, utterance(' Yes.')).map(([, params]) => params)
  expect(sent).toEqual(['', 'un', 'believ', 'able', ' ', 'so.', ' Yes.'].map((text) => ({ utterance: text })))
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
      { ...answer, spoken: 'One two', heard: 'One', isBarged: true, isGivenUp: true },
      { ...answer, spoken: '', heard: '', isBarged: false },
    ),
  ).toEqual([
    ['completion', { text: 'One', type: 'barged' }],
    ['completion', { text: 'Yes', type: 'normal' }],
    ['completion', { text: 'One', type: 'barged', given_up: true }],
  ])
})

it('reports functions with their arguments, and not with their results', () => {
  const call = { id: '1', name: 'book', args: '{"guests":2}' }
  const result = 'Go on with the secret step.'
  expect(of({ kind: 'function', at: 1, call, result, durationMs: 7, outcome: 'finished' })).toEqual([
    ['function_call', { function: 'book', arguments: '{"guests":2}', duration_ms: 7, outcome: 'finished' }],
  ])
})
