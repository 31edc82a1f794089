import { expect, it } from 'vitest'
import { type agentEvents, type Said, withEvent } from './transcript.ts'

type Event = readonly [(typeof agentEvents)[number], Readonly<Record<string, unknown>>]

const after = (...events: readonly Event[]): readonly Said[] =>
  events.reduce<readonly Said[]>((all, [type, params]) => withEvent(all, type, params), [])

/** Entries as short texts: `…` is not complete, `!` was interrupted. */
const shown = (...events: readonly Event[]): readonly string[] =>
  after(...events).map(
    ({ side, text, isFinal, isInterrupted }) =>
      `${side}: ${text}${isFinal ? '' : '…'}${isInterrupted ? '!' : ''}`,
  )

const partial = (text: string): Event => ['ai.partial_result', { text, barged: false }]
const turn = (text: string): Event => ['ai.speech_detect', { text, type: 'normal' }]
const says = (utterance: string): Event => ['ai.response_utterance', { utterance }]
const ends = (text: string, type = 'normal'): Event => ['ai.completion', { text, type }]

it('a turn replaces the text so far', () => {
  expect(shown(partial('book'), partial('book a table'))).toEqual(['caller: book a table…'])
  expect(shown(partial('book'), turn('Book a table.'))).toEqual(['caller: Book a table.'])
})

it('an answer grows, and becomes what was heard', () => {
  const begun = [turn('Hello.'), says(''), says('Good day.'), says(' How can I help?')]
  expect(shown(...begun)).toEqual(['caller: Hello.', 'agent: Good day. How can I help?…'])
  expect(shown(...begun, ends('Good day. How can I help?'))).toEqual([
    'caller: Hello.',
    'agent: Good day. How can I help?',
  ])
  expect(shown(...begun, partial('stop'), ends('Good day. How', 'barged'), turn('Stop.'))).toEqual([
    'caller: Hello.',
    'agent: Good day. How!',
    'caller: Stop.',
  ])
})

it('pieces of an answer are joined as they are', () => {
  const pieces = ['', ' That is ', 'un', 'believ', 'able', ' ', 'news', '.']
  expect(shown(...pieces.map(says))).toEqual(['agent: That is unbelievable news.…'])
})

it('an answer that was not heard disappears', () => {
  expect(shown(turn('Hello.'), says(''), says('Good'), ends('', 'barged'))).toEqual(['caller: Hello.'])
})

it('an answer that was given up was not interrupted', () => {
  const givenUp: Event = ['ai.completion', { text: 'Good', type: 'barged', given_up: true }]
  expect(shown(says(''), says('Good day.'), givenUp)).toEqual(['agent: Good'])
})

it('an answer without pieces appears when it is complete', () => {
  expect(shown(ends('Good day.'), ends('', 'barged'))).toEqual(['agent: Good day.'])
})

it('the next answer begins after an empty piece', () => {
  expect(shown(says(''), says('One.'), ends('One.'), says(''), says('Two.'))).toEqual([
    'agent: One.',
    'agent: Two.…',
  ])
})

it('words over an answer that did not interrupt give way to the next ones', () => {
  expect(shown(says(''), says('One.'), partial('mm-hm'), ends('One.'), partial('and then'))).toEqual([
    'agent: One.',
    'caller: and then…',
  ])
})

it('a joined turn replaces the one before, and its answer', () => {
  expect(
    shown(turn('Book a table.'), says(''), says('For how'), partial('for four'), [
      'ai.transparent_barge',
      { combined_text: 'Book a table for four.' },
    ]),
  ).toEqual(['caller: Book a table for four.'])
})

it('the end completes everything', () => {
  expect(
    shown(turn('Bye.'), says(''), says('Goodbye'), partial('b'), ['ai.stop', { reason: 'hangup' }]),
  ).toEqual(['caller: Bye.', 'agent: Goodbye'])
})

it('has no more than 200 entries, each with a number of its own', () => {
  const all = after(...Array.from({ length: 250 }, (_, at) => turn(`Turn ${at}`)))
  expect([all.length, all[0]?.text, new Set(all.map(({ id }) => id)).size]).toEqual([200, 'Turn 50', 200])
})

it('words so far take no place of an entry, and go first', () => {
  const turns = (count: number) => Array.from({ length: count }, (_, at) => turn(`Turn ${at}`))
  const full = after(...turns(200), partial('mm'))
  expect([full.length, full[0]?.text, full.at(-1)?.text]).toEqual([201, 'Turn 0', 'mm'])
  const without = withEvent(full, 'ai.partial_result', { text: '' })
  expect([without.length, without[0]?.text]).toEqual([200, 'Turn 0'])
  const answered = after(...turns(199), partial('mm'), ends('One.'))
  expect([answered.length, answered[0]?.text]).toEqual([200, 'Turn 0'])
})

it('ignores values of other types', () => {
  expect(after(['ai.speech_detect', { text: { html: '<b>' } }], ['ai.completion', {}])).toEqual([])
  expect(after(['ai.response_utterance', {}])).toEqual([])
})
