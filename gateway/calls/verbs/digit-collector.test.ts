import { describe, expect, it } from 'vitest'
import type { CollectOptions, CollectResult } from '../../../handlers/verbs.ts'
import { FakeClock } from '../../core/clock.ts'
import { DigitCollector } from './digit-collector.ts'

const setUp = (options: CollectOptions) => {
  const clock = new FakeClock()
  const seen: { result?: CollectResult; bargedIn: number } = { bargedIn: 0 }
  const collector = new DigitCollector(clock, options, () => {
    seen.bargedIn++
    collector.promptEnded()
  })
  void collector.result.then((result) => {
    seen.result = result
  })
  const press = (digits: string) => {
    for (const digit of digits) collector.digit(digit)
  }
  const settled = async () => {
    await Promise.resolve()
    expect(clock.running).toBe(0)
    return seen.result
  }
  return { clock, collector, seen, press, settled }
}

describe('collecting digits', () => {
  it('takes one digit by default, and no further one', async () => {
    const t = setUp({})
    t.press('57')
    expect(await t.settled()).toEqual({ reason: 'complete', digits: '5' })
  })

  it('ends with a terminator, even as the first key, which is a barge-in, too', async () => {
    const t = setUp({ maxDigits: 4, terminators: '#*' })
    t.press('*')
    expect(await t.settled()).toEqual({ reason: 'terminator', digits: '', terminator: '*' })
    expect(t.seen.bargedIn).toBe(1)
  })

  it('stops the prompt once, and waits from each digit for the next', async () => {
    const t = setUp({ maxDigits: 4, interDigitTimeoutMs: 2_000 })
    t.press('1')
    t.clock.advance(1_999)
    t.press('2')
    t.clock.advance(1_999)
    expect(t.seen).toEqual({ bargedIn: 1 })
    t.clock.advance(1)
    expect(await t.settled()).toEqual({ reason: 'inter-digit-timeout', digits: '12' })
  })

  it('does not start a wait at the end of a prompt that a digit has stopped', async () => {
    const t = setUp({ maxDigits: 4, initialTimeoutMs: 1_000, interDigitTimeoutMs: 3_000 })
    t.press('1')
    t.collector.promptEnded()
    t.collector.awaitFirst()
    t.clock.advance(2_999)
    expect(t.seen.result).toBeUndefined()
    t.clock.advance(1)
    expect(await t.settled()).toEqual({ reason: 'inter-digit-timeout', digits: '1' })
  })

  it('waits without a limit during the prompt, and 5 s after it', async () => {
    const t = setUp({})
    t.clock.advance(600_000)
    t.collector.promptEnded()
    t.collector.awaitFirst()
    t.clock.advance(4_999)
    expect(t.seen.result).toBeUndefined()
    t.clock.advance(1)
    expect(await t.settled()).toEqual({ reason: 'no-input', digits: '' })
  })

  it('reports nothing after it was canceled', async () => {
    const t = setUp({ maxDigits: 2 })
    t.press('1')
    t.collector.stop()
    t.press('2')
    t.collector.promptEnded()
    t.collector.awaitFirst()
    expect(await t.settled()).toBeUndefined()
  })
})
