import { describe, expect, it } from 'vitest'
import type { EngineFailure } from './engine.ts'
import { type ConversationChanges, ConversationRig } from './testing/conversation-rig.ts'
import { FakeEngine } from './testing/fake-engine.ts'

const lost: EngineFailure = { kind: 'connection', message: 'lost', part: 'fake' }

const opened = async (engines: FakeEngine[], changes: ConversationChanges = {}) => {
  const rig = new ConversationRig(engines, changes)
  await rig.ready()
  return rig
}

describe('Sessions of a conversation', () => {
  it('change in a silence before the limit, with everything said since the next one was opened', async () => {
    const engine = new FakeEngine('limited', { longestMs: 600_000 })
    const rig = await opened([engine])
    rig.clock.advance(569_500)
    rig.voice(true)
    rig.clock.advance(500)
    expect(engine.links).toHaveLength(2)
    const [first, second] = engine.links
    second?.listener.onReady()
    first?.listener.onHeard({ text: 'A question.', isFinal: true })
    rig.voice(false)
    rig.conversation.change({ prompt: 'Be brief.' })
    await rig.passes(2000)
    expect(first?.commandsOf('commit')).toEqual([['commit', 'A question.']])
    expect(first?.isClosed).toBe(false)
    first?.answers('a', 'An answer.')
    await rig.passes(1000)
    expect(first?.isClosed).toBe(false)
    rig.tap.playsAll()
    await rig.passes(200)
    expect(first?.isClosed).toBe(true)
    expect(second?.commands).toEqual([
      ['change', { prompt: 'Be brief.' }],
      ['message', 'user', 'A question.', false],
      ['message', 'assistant', 'An answer.', false],
    ])
  })

  it('change at the limit even while an answer is awaited, which the next one gives', async () => {
    const rig = await opened([new FakeEngine()])
    await rig.callerSays('A question.')
    const first = rig.link
    first.listener.onClosing(2000)
    const second = rig.link
    second.listener.onReady()
    await rig.passes(200)
    expect(first.isClosed).toBe(true)
    expect(second.commandsOf('answer')).toEqual([['answer', undefined]])
  })

  it('give an answer that was asked for in the initial delay, and is lost with the first one', async () => {
    const rig = await opened([new FakeEngine()], { initialDelayMs: 3000 })
    rig.conversation.message({ role: 'system', content: 'It rains.' }, true)
    await rig.settle()
    expect(rig.link.commands).toEqual([['message', 'system', 'It rains.', true]])
    rig.link.listener.onFailure(lost)
    await rig.ready()
    expect(rig.link.commands).toEqual([['answer', undefined]])
    await rig.passes(3000)
    expect(rig.link.commands).toEqual([['answer', undefined]])
  })

  it('go on with an answer that a failure has cut off', async () => {
    const rig = await opened([new FakeEngine()])
    await rig.callerSays('A question.')
    rig.link.begins('a', 'The first half')
    rig.tap.plays()
    rig.link.listener.onFailure(lost)
    expect(rig.link.request.history).toEqual([
      { role: 'user', content: 'A question.' },
      { role: 'assistant', content: 'The first half' },
    ])
    await rig.ready()
    expect(rig.link.commands).toEqual([['answer', expect.stringContaining('Go on')]])
    // The same id as in the first session is another answer.
    rig.link.answers('a', 'the second half.')
    rig.tap.playsAll()
    expect(rig.eventsOf('answer')).toMatchObject([
      { answer: 'a', heard: 'The first half', isBarged: false },
      { answer: '2.a', heard: 'the second half.', isBarged: false },
    ])
  })

  it('end an answer that has text and no sound when they fail', async () => {
    const rig = await opened([new FakeEngine()])
    await rig.callerSays('A question.')
    rig.link.listener.onAnswer('a')
    rig.link.listener.onText('a', 'a.1', 'Never')
    rig.link.listener.onFailure(lost)
    await rig.ready()
    expect(rig.eventsOf('answer')).toMatchObject([{ answer: 'a', heard: '' }])
    // The answer that was lost is asked for again.
    expect([rig.link.commands, rig.conversation.isQuiet]).toEqual([[['answer', undefined]], false])
    rig.link.answers('b', 'Now.')
    void rig.conversation.say('More.')
    rig.tap.playsAll()
    await rig.settle()
    expect(rig.link.commandsOf('say')).toEqual([['say', 'More.']])
  })

  it('ask again for the answer to a turn if they fail while thinking', async () => {
    const rig = await opened([new FakeEngine()])
    await rig.callerSays('A question.')
    rig.link.listener.onFailure(lost)
    await rig.ready()
    expect(rig.link.commands).toEqual([['answer', undefined]])
  })

  it('ask for the answer of an engine that decides about turns itself, too', async () => {
    const rig = await opened([new FakeEngine('its', { turns: 'its' })])
    rig.link.listener.onTurn('began')
    rig.link.listener.onHeard({ text: 'A question.', isFinal: true })
    rig.link.listener.onTurn('ended')
    await rig.settle()
    expect(rig.link.commands).toEqual([])
    rig.link.listener.onFailure(lost)
    await rig.ready()
    expect(rig.link.commands).toEqual([['answer', undefined]])
  })

  it('ask once if the caller has said more before the next one is ready', async () => {
    const rig = await opened([new FakeEngine()])
    rig.link.begins('a', 'The first half')
    rig.link.listener.onFailure(lost)
    rig.tap.playsAll()
    await rig.callerSays('Hello?')
    await rig.ready()
    expect(rig.link.commandsOf('commit', 'answer')).toEqual([['commit', 'Hello?']])
  })

  it('follow the turns and the sample rate of another engine', async () => {
    const its = new FakeEngine('its', { turns: 'its' })
    const ours = new FakeEngine('ours', { rate: 16_000 })
    const rig = await opened([its, ours])
    rig.link.listener.onFailure({ ...lost, kind: 'unauthorised' })
    await rig.ready()
    expect(rig.link).toBe(ours.link)
    await rig.callerSays('A question.')
    expect(rig.link.commandsOf('commit')).toEqual([['commit', 'A question.']])
    rig.link.answers('a', 'An answer.', 1000)
    // The tap keeps the rate of the first engine.
    expect(Math.abs((rig.tap.items.get(1) ?? 0) - 8000)).toBeLessThan(20)
    rig.tap.hears(new Int16Array(160).fill(1000))
    expect(rig.link.heard).toHaveLength(1)
    rig.tap.playsAll()
    expect(rig.eventsOf('answer')).toMatchObject([{ heard: 'An answer.' }])
  })

  it('are replaced if no answer comes in time, and the stuck answer counts no more', async () => {
    const engine = new FakeEngine()
    const rig = await opened([engine])
    await rig.callerSays('A question.')
    const first = rig.link
    first.listener.onAnswer('a')
    first.listener.onText('a', 'a.1', 'Never')
    await rig.passes(6000)
    expect(engine.links).toHaveLength(2)
    await rig.ready()
    expect(rig.link.commands).toEqual([['answer', undefined]])
    rig.link.answers('b', 'At last.')
    rig.tap.playsAll()
    expect(rig.eventsOf('answer')).toMatchObject([
      { heard: '', isBarged: true },
      { heard: 'At last.', isBarged: false },
    ])
    expect(rig.conversation.request().history).toEqual([
      { role: 'user', content: 'A question.' },
      { role: 'assistant', content: 'At last.' },
    ])
  })

  it('speak a text again that the failed one had not begun', async () => {
    const rig = await opened([new FakeEngine()])
    void rig.conversation.say('Important.', { isInterruptible: false })
    await rig.settle()
    rig.link.listener.onFailure(lost)
    await rig.ready()
    expect(rig.link.commands).toEqual([['say', 'Important.']])
  })
})

describe('Conversation without an engine', () => {
  it('apologises, and ends as failed', async () => {
    const rig = await opened([new FakeEngine()])
    rig.link.listener.onFailure({ ...lost, kind: 'refused' })
    await rig.settle()
    expect(rig.eventsOf('filler')).toMatchObject([{ text: expect.stringContaining('sorry') }])
    expect([rig.tap.items.size, rig.tap.mayFade]).toEqual([1, false])
    expect(rig.kinds).not.toContain('ended')
    rig.tap.playsAll()
    await rig.settle()
    await expect(rig.conversation.ended).resolves.toEqual({
      kind: 'failed',
      code: 'refused',
      reason: 'lost',
    })
    expect(rig.clock.running).toBe(0)
  })

  it('ends within 10 s if the apology is not heard, and at once if the call ends', async () => {
    const failed = async () => {
      const rig = await opened([new FakeEngine()])
      rig.link.listener.onFailure({ ...lost, kind: 'refused' })
      await rig.settle()
      return rig
    }
    const mute = await failed()
    await mute.passes(10_000)
    await expect(mute.conversation.ended).resolves.toMatchObject({ kind: 'failed' })
    const dead = await failed()
    dead.tap.dies()
    await expect(dead.conversation.ended).resolves.toEqual({ kind: 'hangup' })
    expect([mute.clock.running, dead.clock.running]).toEqual([0, 0])
  })

  it('ends at once on hold', async () => {
    const rig = await opened([new FakeEngine()], { isPaused: true })
    rig.link.listener.onFailure({ ...lost, kind: 'refused' })
    await expect(rig.conversation.ended).resolves.toMatchObject({ kind: 'failed' })
    expect(rig.tap.items.size).toBe(0)
  })
})
