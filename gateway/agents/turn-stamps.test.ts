import { describe, expect, it } from 'vitest'
import type { AgentStamps } from '../../handlers/verbs.ts'
import { FakeClock } from '../core/clock.ts'
import { ConversationRig } from './testing/conversation-rig.ts'
import { FakeEngine } from './testing/fake-engine.ts'
import { TurnStamps } from './turn-stamps.ts'

it('has the stamps of one turn for one answer', () => {
  const clock = new FakeClock(1000)
  const stamps = new TurnStamps(clock)
  stamps.tapOpened()
  clock.advance(500)
  stamps.voice(true, 400)
  stamps.voice(false, 480)
  stamps.decided()
  clock.advance(20)
  stamps.requested()
  expect(stamps.ofAnswer()).toEqual({
    speechStart: 1_400_000,
    lastWordEnd: 1_480_000,
    turnDecided: 1_500_000,
    requestSent: 1_520_000,
  })
  expect(stamps.ofAnswer()).toEqual({})
})

describe('the request of an answer', () => {
  const stampsOf = async (rig: ConversationRig): Promise<AgentStamps> => {
    rig.tap.playsAll()
    await rig.settle()
    return rig.eventsOf('answer').at(-1)!.stamps
  }

  /** Milliseconds between two stamps. */
  const between = (from: number | undefined, to: number | undefined): number => (to! - from!) / 1000

  it('is the time at which the engine was asked', async () => {
    const rig = new ConversationRig([new FakeEngine()])
    await rig.ready()
    rig.voice(true)
    rig.clock.advance(500)
    rig.link.listener.onHeard({ text: 'Hello there.', isFinal: true })
    rig.voice(false)
    await rig.passes(700)
    await rig.passes(120)
    rig.link.begins('a', 'Good day.')
    rig.clock.advance(30)
    rig.link.listener.onFirstToken('a')
    rig.link.listener.onAnswerEnd('a', 'completed')
    const { turnDecided, requestSent, firstToken } = await stampsOf(rig)
    expect(between(turnDecided, requestSent)).toBe(0)
    expect(between(requestSent, firstToken)).toBe(150)
  })

  it('is the end of the turn, for an engine that answers by itself', async () => {
    const rig = new ConversationRig([new FakeEngine('its', { turns: 'its' })])
    await rig.ready()
    rig.link.listener.onTurn('began')
    rig.link.listener.onHeard({ text: 'Hello', isFinal: true })
    rig.link.listener.onTurn('ended')
    await rig.passes(200)
    rig.link.begins('a', 'Good day.')
    rig.link.listener.onFirstToken('a')
    rig.link.listener.onAnswerEnd('a', 'completed')
    const { requestSent, firstToken } = await stampsOf(rig)
    expect(between(requestSent, firstToken)).toBe(200)
  })

  it('is missing where the end of the turn is known by the answer only', async () => {
    const rig = new ConversationRig([new FakeEngine('its', { turns: 'its' })])
    await rig.ready()
    rig.link.listener.onHeard({ text: 'Hello', isFinal: true })
    rig.link.listener.onTurn('ended', true)
    rig.link.answers('a', 'Good day.')
    expect(await stampsOf(rig)).not.toHaveProperty('requestSent')
  })
})
