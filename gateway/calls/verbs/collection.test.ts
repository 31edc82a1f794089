import { describe, expect, it } from 'vitest'
import type { CollectOptions, CollectResult } from '../../../handlers/verbs.ts'
import { FakeClock } from '../../core/clock.ts'
import { FakeRecogniser } from '../../speech/testing/fake-recogniser.ts'
import { settle } from '../testing/calls-fixture.ts'
import { Collection } from './collection.ts'

const setUp = (options: CollectOptions) => {
  const clock = new FakeClock()
  const recogniser = new FakeRecogniser()
  const seen: { result?: CollectResult; inputs: number } = { inputs: 0 }
  const collection = new Collection({
    clock,
    options,
    recognise: (listener) => recogniser.open({ sampleRate: 8000 }, listener),
    stopPrompt: () => seen.inputs++,
  })
  void collection.result.then((result) => {
    seen.result = result
  })
  const press = (digits: string) => {
    for (const digit of digits) collection.digit(digit)
  }
  /** The result, after which nothing may be left running. */
  const settled = async () => {
    await settle()
    expect(clock.running).toBe(0)
    for (const { state } of recogniser.opened) expect(state).toBe('closed')
    return seen.result
  }
  return { clock, collection, recogniser, heard: recogniser.opened[0]!, seen, press, settled }
}

const said = (text: string, confidence?: number): CollectResult => ({
  reason: 'speech',
  digits: '',
  speech: { text, ...(confidence !== undefined && { confidence }) },
})

describe('collecting speech', () => {
  it('ends with the recogniser’s final transcript, and stops the prompt once at the first words', async () => {
    const partials: string[] = []
    const t = setUp({ digits: false, speech: { onPartial: (text) => partials.push(text) } })
    t.heard.partial('')
    expect(t.seen.inputs).toBe(0)
    for (const text of ['two', 'two hundred', 'two hundred']) t.heard.partial(text)
    t.heard.final('two hundred and', 0.8)
    expect(await t.settled()).toEqual(said('two hundred and', 0.8))
    expect(t.seen.inputs).toBe(1)
    expect(partials).toEqual(['two', 'two hundred', 'two hundred and'])
  })

  it('ends after 1 s of silence, with the final transcript that follows', async () => {
    const t = setUp({ digits: false, speech: {} })
    t.heard.partial('two')
    t.clock.advance(999)
    t.heard.partial('two hundred')
    t.clock.advance(500)
    // The same partial result is not reported again.
    t.heard.partial('two hundred')
    t.clock.advance(499)
    expect(t.heard.state).toBe('open')
    t.clock.advance(1)
    expect(t.heard.state).toBe('ending')
    t.heard.final('to hundreds', 0.6)
    await settle()
    expect(t.seen.result).toBeUndefined()
    t.heard.finish()
    expect(await t.settled()).toEqual(said('to hundreds', 0.6))
  })

  it('returns the last partial transcript without a final one', async () => {
    const t = setUp({ digits: false, speech: {} })
    t.heard.partial('yes')
    t.clock.advance(1000)
    t.heard.finish()
    expect(await t.settled()).toEqual(said('yes'))
  })

  it('goes on over utterances until the requested silence', async () => {
    const t = setUp({ digits: false, speech: { endSilenceMs: 3000 } })
    t.heard.partial('one')
    t.heard.final('one', 1)
    t.clock.advance(2999)
    t.heard.partial('two')
    t.heard.final('two', 0.5)
    t.heard.final('')
    t.clock.advance(3000)
    t.heard.finish()
    expect(await t.settled()).toEqual(said('one two', 0.75))
  })

  it('lasts no longer than its limit', async () => {
    const t = setUp({ digits: false, speech: { maxSpeechMs: 2500 } })
    for (let words = 1; words <= 5; words++) {
      t.heard.partial('word '.repeat(words))
      t.clock.advance(500)
    }
    t.heard.finish()
    expect(await t.settled()).toEqual(said('word word word word word'))
  })

  it('waits from the end of the prompt, and again after a false start', async () => {
    const t = setUp({ digits: false, initialTimeoutMs: 2000, speech: {} })
    t.clock.advance(60_000)
    t.collection.promptEnded()
    t.clock.advance(1500)
    t.heard.partial('the')
    t.clock.advance(900)
    t.heard.final('')
    t.clock.advance(1999)
    expect(t.heard.state).toBe('open')
    t.clock.advance(1)
    t.heard.finish()
    expect(await t.settled()).toEqual({ reason: 'no-input', digits: '' })
  })

  it('waits for pending transcripts after the time-out', async () => {
    const t = setUp({ digits: false, speech: {} })
    t.collection.promptEnded()
    t.clock.advance(5000)
    t.heard.final('yes', 1)
    t.heard.finish()
    expect(await t.settled()).toEqual(said('yes', 1))
  })

  it('ignores digits if only speech is collected', async () => {
    const t = setUp({ digits: false, speech: {} })
    t.press('12#')
    expect(t.seen.inputs).toBe(0)
    t.heard.final('yes')
    expect(await t.settled()).toEqual(said('yes'))
  })

  it('reports nothing after it was canceled', async () => {
    const t = setUp({ speech: {} })
    t.heard.partial('yes')
    t.collection.close()
    t.press('1')
    expect(await t.settled()).toBeUndefined()
  })
})

describe('collecting digits and speech', () => {
  it('prefers a digit to speech, even to speech that has started', async () => {
    const t = setUp({ maxDigits: 2, speech: {} })
    t.heard.partial('the')
    t.press('1')
    expect(t.heard.state).toBe('closed')
    t.collection.promptEnded()
    t.press('2')
    expect(await t.settled()).toEqual({ reason: 'complete', digits: '12' })
  })

  it('returns speech that comes first', async () => {
    const t = setUp({ maxDigits: 2, speech: {} })
    t.collection.promptEnded()
    t.heard.final('sales', 0.9)
    t.press('1')
    expect(await t.settled()).toEqual(said('sales', 0.9))
  })

  it('ends speech with a terminator, which is otherwise a digit', async () => {
    const t = setUp({ maxDigits: 9, terminators: '#', speech: { endSilenceMs: 10_000 } })
    t.heard.partial('sales')
    t.press('#')
    t.heard.finish()
    expect(await t.settled()).toEqual(said('sales'))
    const silent = setUp({ maxDigits: 9, terminators: '#', speech: {} })
    silent.press('#')
    expect(await silent.settled()).toEqual({ reason: 'terminator', digits: '', terminator: '#' })
  })

  it('has one wait for both, and waits between digits after the first', async () => {
    const t = setUp({ maxDigits: 2, initialTimeoutMs: 3000, interDigitTimeoutMs: 1000, speech: {} })
    t.collection.promptEnded()
    t.clock.advance(2000)
    t.press('1')
    t.clock.advance(1000)
    expect(await t.settled()).toEqual({ reason: 'inter-digit-timeout', digits: '1' })
    const silent = setUp({ initialTimeoutMs: 3000, speech: {} })
    silent.collection.promptEnded()
    silent.clock.advance(3000)
    silent.heard.finish()
    expect(await silent.settled()).toEqual({ reason: 'no-input', digits: '' })
  })
})

describe('the maximum duration of a collection', () => {
  it('returns the digits so far, and starts with the first one', async () => {
    const t = setUp({ maxDigits: 9, finalTimeoutMs: 7000 })
    t.clock.advance(10_000)
    t.press('1')
    t.collection.promptEnded()
    t.clock.advance(4000)
    t.press('2')
    t.clock.advance(2999)
    expect(t.seen.result).toBeUndefined()
    t.clock.advance(1)
    expect(await t.settled()).toEqual({ reason: 'inter-digit-timeout', digits: '12' })
  })

  it('returns the speech so far, and starts with the end of the prompt', async () => {
    const t = setUp({ digits: false, finalTimeoutMs: 3000, speech: { endSilenceMs: 10_000 } })
    t.collection.promptEnded()
    t.clock.advance(2000)
    t.heard.partial('sales')
    t.clock.advance(1000)
    t.heard.finish()
    expect(await t.settled()).toEqual(said('sales'))
  })

  it('may be shorter than the first wait, and keeps digits after the start of speech', async () => {
    const short = setUp({ initialTimeoutMs: 9000, finalTimeoutMs: 2000 })
    short.collection.promptEnded()
    short.clock.advance(2000)
    expect(await short.settled()).toEqual({ reason: 'no-input', digits: '' })
    const both = setUp({ maxDigits: 9, finalTimeoutMs: 2000, speech: {} })
    both.heard.partial('the')
    both.press('5')
    both.clock.advance(2000)
    expect(await both.settled()).toEqual({ reason: 'inter-digit-timeout', digits: '5' })
  })
})

describe('a recogniser that fails', () => {
  it('ends speech at once with an error', async () => {
    const t = setUp({ digits: false, speech: {} })
    t.heard.fail()
    expect(await t.settled()).toEqual({ reason: 'error', digits: '' })
  })

  it('returns the transcript so far', async () => {
    const t = setUp({ digits: false, speech: { endSilenceMs: 2000 } })
    t.heard.final('one')
    t.heard.partial('two')
    t.heard.fail()
    expect(await t.settled()).toEqual(said('one two'))
  })

  it('leaves the digits, and gives an error without any', async () => {
    const t = setUp({ speech: {} })
    t.heard.fail()
    t.press('7')
    expect(await t.settled()).toEqual({ reason: 'complete', digits: '7' })
    const silent = setUp({ speech: {} })
    silent.heard.fail()
    silent.collection.promptEnded()
    silent.clock.advance(5000)
    expect(await silent.settled()).toEqual({ reason: 'error', digits: '' })
  })

  it('gives an error also after the wait', async () => {
    const t = setUp({ digits: false, speech: {} })
    t.collection.promptEnded()
    t.clock.advance(5000)
    t.heard.fail()
    expect(await t.settled()).toEqual({ reason: 'error', digits: '' })
  })
})
