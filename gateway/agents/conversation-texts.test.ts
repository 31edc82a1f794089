import { describe, expect, it } from 'vitest'
import type { EngineFailure } from './engine.ts'
import { type ConversationChanges, ConversationRig } from './testing/conversation-rig.ts'
import { FakeEngine } from './testing/fake-engine.ts'

const lost: EngineFailure = { kind: 'connection', message: 'lost', part: 'fake' }
const notice = 'This call is recorded. Press one for sales. Goodbye.'

const opened = async (changes: ConversationChanges = {}, engine = new FakeEngine()) => {
  const rig = new ConversationRig([engine], changes)
  await rig.ready()
  return rig
}

/** The session speaks some clauses of the notice, the last one in part, and fails. */
const failsWithin = async (rig: ConversationRig, whole: readonly string[], part?: string) => {
  const { listener } = rig.link
  listener.onAnswer('a')
  whole.forEach((text, i) => {
    listener.onText('a', `a.${i}`, text)
    listener.onAudio('a', `a.${i}`, new Int16Array(8 * 1000))
    listener.onItemEnd('a', `a.${i}`)
  })
  if (part !== undefined) {
    listener.onText('a', 'a.p', part)
    listener.onAudio('a', 'a.p', new Int16Array(8 * 200))
  }
  rig.tap.plays()
  listener.onFailure(lost)
  await rig.ready()
}

describe('Text to be spoken word for word', () => {
  it('goes on with the first clause that a lost session did not speak whole', async () => {
    const rig = await opened()
    let isHeard = false
    void rig.conversation.say(notice).then(() => (isHeard = true))
    await rig.settle()
    await failsWithin(rig, ['This call is recorded.'], 'Press one for sales.')
    // The caller still hears what the lost session gave.
    expect(rig.link.commands).toEqual([])
    rig.tap.playsAll()
    await rig.settle()
    expect(isHeard).toBe(false)
    expect(rig.link.commands).toEqual([['say', 'Press one for sales. Goodbye.']])
    rig.link.answers('b', 'Press one for sales. Goodbye.')
    rig.tap.playsAll()
    await rig.settle()
    expect(isHeard).toBe(true)
    expect(rig.eventsOf('answer')).toMatchObject([
      { heard: 'This call is recorded.', isExact: true },
      { heard: 'Press one for sales. Goodbye.', isExact: true },
    ])
  })

  it('is protected in its second part, too, and is not followed by a text of the model', async () => {
    const greeting = { text: notice, isInterruptible: false }
    const rig = await opened({ greeting })
    await failsWithin(rig, [], 'This call is recorded.')
    rig.tap.playsAll()
    await rig.settle()
    expect(rig.link.commands).toEqual([['say', notice]])
    rig.link.begins('b', notice)
    expect(rig.tap.mayFade).toBe(false)
  })

  it('is complete if only its end was not reported', async () => {
    const rig = await opened()
    const said = rig.conversation.say(notice)
    await rig.settle()
    await failsWithin(rig, ['This call is recorded.', 'Press one for sales.', 'Goodbye.'])
    rig.tap.playsAll()
    await said
    expect(rig.link.commands).toEqual([])
  })

  it('does not go on if the caller interrupts what is left of it', async () => {
    const rig = await opened()
    const said = rig.conversation.say(notice)
    await rig.settle()
    await failsWithin(rig, ['This call is recorded.'])
    rig.voice(true, true)
    rig.link.listener.onHeard({ text: 'Stop it now', isFinal: true })
    rig.voice(false)
    await said
    await rig.passes(2000)
    expect(rig.link.commandsOf('say', 'commit')).toEqual([['commit', 'Stop it now']])
  })

  it('is given up if the engine never speaks it, and the next one follows', async () => {
    const rig = await opened()
    let isOver = false
    void rig.conversation.say('Never spoken.').then(() => (isOver = true))
    void rig.conversation.say('Next.')
    await rig.settle()
    await rig.passes(14_999)
    expect([isOver, rig.link.commands]).toEqual([false, [['say', 'Never spoken.']]])
    await rig.passes(1)
    expect(isOver).toBe(true)
    expect(rig.link.commands).toEqual([
      ['say', 'Never spoken.'],
      ['say', 'Next.'],
    ])
  })
})

describe('Answer that speaks a text', () => {
  it('is not the answer that was asked for before', async () => {
    const rig = await opened()
    await rig.callerSays('A question.')
    void rig.conversation.say('One moment.', { isInterruptible: false })
    await rig.settle()
    rig.link.begins('a', 'An answer.')
    expect(rig.tap.mayFade).toBe(true)
    rig.link.listener.onItemEnd('a', 'a.1')
    rig.link.listener.onAnswerEnd('a', 'completed')
    rig.link.begins('t', 'One moment.')
    expect(rig.tap.mayFade).toBe(false)
    rig.link.listener.onItemEnd('t', 't.1')
    rig.link.listener.onAnswerEnd('t', 'completed')
    rig.tap.playsAll()
    expect(rig.eventsOf('answer')).toMatchObject([
      { answer: 'a', isExact: false },
      { answer: 't', isExact: true },
    ])
  })

  it('is not the answer of an engine to a turn that it has ended itself', async () => {
    const rig = await opened({}, new FakeEngine('its', { turns: 'its' }))
    rig.link.listener.onTurn('began')
    rig.link.listener.onHeard({ text: 'A question.', isFinal: true })
    rig.link.listener.onTurn('ended')
    void rig.conversation.say('One moment.')
    await rig.settle()
    rig.link.answers('a', 'An answer.')
    rig.link.answers('t', 'One moment.')
    rig.tap.playsAll()
    expect(rig.eventsOf('answer')).toMatchObject([{ isExact: false }, { isExact: true }])
  })

  it('is the one that the engine names, and the awaited one still comes or is asked for again', async () => {
    const engine = new FakeEngine()
    const rig = await opened({}, engine)
    await rig.callerSays('A question.')
    void rig.conversation.say('One moment.')
    await rig.settle()
    rig.link.listener.onAnswer('t', true)
    rig.link.listener.onText('t', '1', 'One moment.')
    rig.link.listener.onAudio('t', '1', new Int16Array(800))
    rig.link.listener.onItemEnd('t', '1')
    rig.link.listener.onAnswerEnd('t', 'completed')
    rig.tap.playsAll()
    expect(rig.eventsOf('answer')).toMatchObject([{ answer: 't', isExact: true }])
    await rig.passes(6000)
    expect(engine.links).toHaveLength(2)
    await rig.ready()
    expect(rig.link.commands).toEqual([['answer', undefined]])
  })
})
