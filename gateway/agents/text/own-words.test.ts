import { describe, expect, it } from 'vitest'
import { OwnWords } from './own-words.ts'

const table = 'Your table for four people is booked for eight this evening.'

describe('OwnWords', () => {
  it('recognise an echo, also a part of it with an error', () => {
    const own = new OwnWords()
    own.add(table, 0)
    expect(own.isEcho('table for for people is booked', 2000)).toBe(true)
    expect(own.isEcho('your table', 300)).toBe(true)
  })

  it('leave words that the agent did not say, or said in another order', () => {
    const own = new OwnWords()
    own.add(table, 0)
    expect(own.isEcho('no I want a table for two', 2000)).toBe(false)
    expect(own.isEcho('is eight people booked', 2000)).toBe(false)
    expect(own.isEcho('', 2000)).toBe(false)
  })

  it('know each text until some seconds after its end', () => {
    const own = new OwnWords()
    own.add(table, 0)
    // Eleven words last for about 4.4 s.
    expect(own.isEcho('this evening', 10_000)).toBe(true)
    expect(own.isEcho('this evening', 10_500)).toBe(false)
  })

  it('know a text that was cut only until some seconds after the cut', () => {
    const own = new OwnWords()
    own.add(table, 0)
    own.stop(500)
    expect(own.isEcho('this evening', 6_400)).toBe(true)
    expect(own.isEcho('this evening', 6_600)).toBe(false)
  })

  it('join the pieces of a text, which may end within a word', () => {
    const own = new OwnWords()
    own.add('Your appoint', 0)
    own.add('ment is', 10, true)
    own.add(' on Friday.', 20, true)
    expect(own.isEcho('appointment is on friday', 500)).toBe(true)
  })

  it('compare long texts in a bounded time', () => {
    const own = new OwnWords()
    for (let i = 0; i < 200; i++) own.add('word '.repeat(100), i)
    // Each word against each would exceed the limit of a test.
    expect(own.isEcho('other '.repeat(500_000), 300)).toBe(false)
  })
})
