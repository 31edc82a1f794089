import { beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../core/clock.ts'
import { SpeechOutput } from './speech-output.ts'
import { FakeTap } from './testing/fake-tap.ts'

/** Audio of that many milliseconds at 8 kHz. */
const audio = (ms: number) => new Int16Array(ms * 8)

let tap: FakeTap
let clock: FakeClock
let seen: string[]
let output: SpeechOutput

beforeEach(() => {
  tap = new FakeTap()
  clock = new FakeClock()
  seen = []
  output = new SpeechOutput(
    tap,
    8000,
    {
      onBegan: (answer) => seen.push(`began ${answer}`),
      onUtterance: (answer, text) => seen.push(`${answer}: ${text}`),
      onEnded: (answer) => seen.push(`ended ${answer}`),
      onPlayed: () => seen.push('played'),
    },
    () => clock.uptime(),
  )
})

describe('SpeechOutput', () => {
  it('reports the begin of an answer, the text with its sound, and the end of all speech', () => {
    output.text('a', '1', 'Hello. ')
    output.audio('a', '1', audio(400))
    output.end('a', '1')
    output.audio('a', '2', audio(400))
    expect(seen).toEqual([])
    tap.happens({ kind: 'item-began', item: 1, atMs: 0 })
    output.event({ kind: 'item-began', item: 1, atMs: 0 })
    output.event({ kind: 'item-ended', item: 1 })
    output.event({ kind: 'item-began', item: 2, atMs: 400 })
    output.text('a', '2', 'How are you?')
    output.end('a', '2')
    output.event({ kind: 'item-ended', item: 2 })
    expect(seen).toEqual(['began a', 'a: Hello. ', 'a: How are you?', 'played', 'ended a'])
    expect([output.isBusy, output.isOver('a')]).toEqual([false, true])
  })

  it('knows the words heard of an answer while it is spoken, and after a cut by the position of the media', async () => {
    output.text('a', '1', 'one two three four')
    output.audio('a', '1', audio(1000))
    output.end('a', '1')
    output.event({ kind: 'item-began', item: 1, atMs: 0 })
    clock.advance(500)
    expect(output.heardOf('a')).toMatchObject({ text: 'one two', ms: 500, last: { item: '1', ms: 500 } })
    tap.positions = [{ item: 1, heardMs: 250 }]
    await output.cut()
    expect(output.heardOf('a')).toEqual({
      spoken: 'one two three four',
      text: 'one',
      ms: 250,
      last: { item: '1', ms: 250 },
    })
    expect(output.isBusy).toBe(false)
  })

  it('does not count the time in which the engine was too slow', () => {
    output.text('a', '1', 'one two three four')
    output.audio('a', '1', audio(500))
    output.event({ kind: 'item-began', item: 1, atMs: 0 })
    clock.advance(2000)
    output.audio('a', '1', audio(500))
    clock.advance(100)
    expect(output.heardOf('a').ms).toBe(600)
  })

  it('counts nothing of an item that was never sent', async () => {
    output.text('a', '1', 'never heard')
    output.audio('a', '1', audio(1000))
    await output.cut()
    expect(output.heardOf('a')).toEqual({ spoken: 'never heard', text: '', ms: 0 })
  })

  it('ignores the late end of an item that was cut', async () => {
    output.audio('a', '1', audio(100))
    await output.cut()
    output.event({ kind: 'item-ended', item: 1 })
    expect(seen).toEqual([])
  })

  it('ends an item without audio at once', () => {
    output.text('a', '1', '…')
    output.end('a', '1')
    expect([output.isOver('a'), seen]).toEqual([true, ['played', 'ended a']])
  })

  it('drops audio of a real-time engine that would be heard more than 200 ms late', () => {
    for (let i = 0; i < 20; i++) output.audioInRealTime('a', '1', audio(100))
    expect(tap.items.get(1)).toBe(8 * 300)
    clock.advance(150)
    output.audioInRealTime('a', '1', audio(100))
    expect(tap.items.get(1)).toBe(8 * 400)
  })

  it('plays a filler that belongs to no answer', () => {
    output.sound(audio(100))
    expect(output.isBusy).toBe(true)
    output.event({ kind: 'item-began', item: 1, atMs: 0 })
    output.event({ kind: 'item-ended', item: 1 })
    expect([output.isBusy, seen]).toEqual([false, ['played']])
  })
})
