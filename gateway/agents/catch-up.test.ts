import { describe, expect, it } from 'vitest'
import { catchUp, missedOf } from './catch-up.ts'
import type { EngineMessage } from './engine.ts'
import { FakeEngine } from './testing/fake-engine.ts'

const user = (content: string): EngineMessage => ({ role: 'user', content })
const agent = (content: string): EngineMessage => ({ role: 'assistant', content })

describe('missedOf', () => {
  it('returns what was said since', () => {
    expect(missedOf([user('Hi')], [user('Hi'), agent('Hello.')])).toEqual([agent('Hello.')])
    expect(missedOf([], [])).toEqual([])
  })

  it('compares words, not their spelling', () => {
    expect(missedOf([user('hi there'), agent('Hello')], [user('Hi, there!'), agent('Hello.')])).toEqual([])
  })

  it('takes texts without words for known', () => {
    const history = [user('…'), agent('Hello?'), user('🙂')]
    expect(missedOf(history, history)).toEqual([])
    expect(missedOf(history, [...history, agent('Yes.')])).toEqual([agent('Yes.')])
  })

  it('returns the rest of an answer that was being spoken, and what follows', () => {
    const before = [user('Hi'), agent('We have')]
    const now = [user('Hi'), agent('We have three rooms.'), user('Fine.')]
    expect(missedOf(before, now)).toEqual([agent('three rooms.'), user('Fine.')])
  })

  it('takes a call that has ended since for no change of its answer', () => {
    const call = { id: 'c', name: 'book', args: '{}' }
    const done = { ...agent('One moment.'), calls: [call] } as EngineMessage
    const result: EngineMessage = { role: 'tool', callId: 'c', name: 'book', content: 'done' }
    const note = { role: 'system', content: 'Result of book: done' }
    expect(missedOf([agent('One moment.')], [done, result])).toEqual([note])
    expect(missedOf([agent('One')], [done, result, user('Fine.')])).toEqual([
      agent('moment.'),
      note,
      user('Fine.'),
    ])
    expect(missedOf([done, result], [done, { ...result, callId: 'd' }])).toBeUndefined()
  })

  it('gives up on words that are no longer true', () => {
    expect(missedOf([agent('We have three rooms.')], [agent('We have')])).toBeUndefined()
    expect(missedOf([agent('We have'), user('Yes')], [agent('We have none.'), user('Yes')])).toBeUndefined()
    expect(missedOf([user('Hi')], [])).toBeUndefined()
    expect(missedOf([user('Hi')], [agent('Hi')])).toBeUndefined()
  })

  it('writes calls of functions as messages', () => {
    const call = { id: 'c', name: 'book', args: '{}' }
    const result: EngineMessage = { role: 'tool', callId: 'c', name: 'book', content: 'done' }
    expect(missedOf([], [{ ...agent(''), calls: [call] } as EngineMessage, result])).toEqual([
      { role: 'system', content: 'Result of book: done' },
    ])
  })
})

describe('catchUp', () => {
  const request = {
    projectId: 'p',
    prompt: 'Be kind.',
    functions: [],
    history: [agent('We have three rooms.')],
    languages: [],
    hints: [],
    pronounce: [],
    settings: {},
    isSemantic: true,
    endOfSpeechMs: 700,
  }

  it('replaces a history whose words have changed', () => {
    const engine = new FakeEngine()
    engine.open(request, {} as never)
    const history = [agent('We have'), user('Stop.')]
    catchUp(engine.link, request, { ...request, history })
    expect(engine.link.commands).toEqual([['change', { history }]])
  })
})
