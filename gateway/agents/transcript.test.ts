import { describe, expect, it } from 'vitest'
import { Transcript } from './transcript.ts'

const call = { id: 'c1', name: 'book', args: '{}' }

describe('Transcript', () => {
  it('keeps messages, answers with their calls, and results in order', () => {
    const transcript = new Transcript([{ role: 'system', content: 'Be kind.' }])
    transcript.add({ role: 'user', content: 'Book a table.' })
    transcript.answer('a', 'One moment.')
    transcript.call('a', call)
    transcript.result(call, 'booked')
    expect(transcript.messages).toEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Book a table.' },
      { role: 'assistant', content: 'One moment.', calls: [call] },
      { role: 'tool', callId: 'c1', name: 'book', content: 'booked' },
    ])
  })

  it('leaves a call without a result out, and an answer without text and calls', () => {
    const transcript = new Transcript([])
    transcript.call('a', call)
    expect(transcript.messages).toEqual([])
    transcript.result(call, 'booked')
    expect(transcript.messages).toHaveLength(2)
  })

  it('replaces the text of an answer by the text heard, and drops an answer that never happened', () => {
    const transcript = new Transcript([])
    transcript.answer('a', 'We have three rooms.')
    transcript.answer('a', 'We have')
    transcript.answer('b', 'Never heard.')
    transcript.drop('b')
    expect(transcript.messages).toEqual([{ role: 'assistant', content: 'We have' }])
  })

  it('keeps an answer that called a function, because the function ran', () => {
    const transcript = new Transcript([])
    transcript.call('a', call)
    transcript.result(call, 'booked')
    transcript.drop('a')
    expect(transcript.messages).toHaveLength(2)
  })

  it('gives back the last turn of the caller only while nothing follows it', () => {
    const transcript = new Transcript([])
    transcript.add({ role: 'user', content: 'My number is' })
    expect(transcript.dropTurn()).toEqual({ role: 'user', content: 'My number is' })
    transcript.add({ role: 'user', content: 'Hello.' })
    transcript.answer('a', 'Hi.')
    expect(transcript.dropTurn()).toBeUndefined()
  })

  it('keeps the last 1000 entries', () => {
    const transcript = new Transcript([])
    for (let i = 0; i <= 1000; i++) transcript.add({ role: 'user', content: String(i) })
    expect([transcript.messages.length, transcript.messages[0]?.role]).toEqual([1000, 'user'])
  })
})

describe('Calls in a transcript', () => {
  it('are dropped with their results, since models reject a result alone', () => {
    const transcript = new Transcript([])
    transcript.call('a', call)
    transcript.result(call, 'booked')
    for (let i = 0; i < 999; i++) transcript.add({ role: 'user', content: String(i) })
    expect(transcript.messages.every(({ role }) => role === 'user')).toBe(true)
  })

  it('that were dropped leave their late results as messages', () => {
    const transcript = new Transcript([])
    transcript.call('a', call)
    for (let i = 0; i < 1000; i++) transcript.add({ role: 'user', content: String(i) })
    transcript.result(call, 'booked')
    expect(transcript.messages.at(-1)).toEqual({ role: 'system', content: 'Result of book: booked' })
  })

  it('of several sessions with the same id differ', () => {
    const transcript = new Transcript([])
    const again = { ...call }
    transcript.call('a', call)
    transcript.result(call, 'booked')
    transcript.call('2.a', again)
    // The second one has no result yet: it is left out.
    expect(transcript.messages).toEqual([
      { role: 'assistant', content: '', calls: [call] },
      { role: 'tool', callId: 'c1', name: 'book', content: 'booked' },
    ])
    transcript.result(again, 'full')
    expect(transcript.messages.slice(2)).toEqual([
      { role: 'assistant', content: '', calls: [{ ...call, id: 'c1-2' }] },
      { role: 'tool', callId: 'c1-2', name: 'book', content: 'full' },
    ])
  })
})
