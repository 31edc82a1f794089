import { describe, expect, it } from 'vitest'
import { type ConversationChanges, ConversationRig } from './testing/conversation-rig.ts'
import { FakeEngine } from './testing/fake-engine.ts'

const lookUp = { name: 'look_up', description: 'Looks up.', parameters: {} }
const languages = [{ name: 'English', code: 'en', speechFillers: ['Hm.'] }]

const opened = async (changes: ConversationChanges = {}) => {
  const rig = new ConversationRig([new FakeEngine()], { functions: [lookUp], languages, ...changes })
  await rig.ready()
  return rig
}

const speaks = async (rig: ConversationRig) => {
  await rig.callerSays('A question.')
  rig.link.answers('a', 'one two three four')
  rig.tap.plays()
}

/** Ways into each state. */
const states: [string, (rig: ConversationRig) => unknown][] = [
  ['listening', () => {}],
  ['the caller speaks', (rig) => rig.voice(true)],
  ['thinking', (rig) => rig.callerSays('A question.')],
  ['a filler is rendered', (rig) => rig.callerSays('A question.').then(() => rig.passes(700))],
  ['speaking', speaks],
  ['doubting', (rig) => speaks(rig).then(() => rig.voice(true, true))],
  ['held', (rig) => rig.conversation.hold()],
  ['leaving', (rig) => speaks(rig).then(() => rig.conversation.stop())],
  [
    'a function runs',
    (rig) => {
      rig.link.listener.onAnswer('f')
      rig.link.listener.onCall('f', { id: 'c', name: 'look_up', args: '{}' })
    },
  ],
  ['a text waits', (rig) => void rig.conversation.say('Wait.')],
  ['the next session is opened', (rig) => rig.link.listener.onClosing(30_000)],
  ['silence is awaited', (rig) => speaks(rig).then(() => void rig.conversation.quiet())],
]

describe('End of a conversation', () => {
  it.each(states)('by a hang-up is reported once and leaves nothing: %s', async (_, reach) => {
    const rig = await opened()
    rig.isRenderingLate = true
    await reach(rig)
    rig.conversation.hangUp()
    rig.conversation.hangUp()
    rig.tap.dies()
    await expect(rig.conversation.ended).resolves.toEqual({ kind: 'hangup' })
    expect(rig.kinds.at(-1)).toBe('ended')
    expect(rig.eventsOf('ended')).toHaveLength(1)
    expect([rig.clock.running, rig.tap.isClosed, rig.link.isClosed]).toEqual([0, true, true])
    const events = rig.events.length
    const commands = rig.link.commands.length
    rig.link.answers('late', 'late')
    rig.link.listener.onHeard({ text: 'late', isFinal: true })
    rig.tap.playsAll()
    rig.voice(false)
    for (const { end } of rig.functions) end({ text: 'late' })
    for (const finish of rig.renderings) finish()
    rig.conversation.change({ prompt: 'late' })
    rig.conversation.message({ role: 'user', content: 'late' }, true)
    rig.conversation.hold()
    rig.conversation.digit('1')
    await rig.conversation.say('late')
    await rig.conversation.quiet()
    await rig.passes(60_000)
    expect([rig.events.length, rig.link.commands.length]).toEqual([events, commands])
    expect([rig.clock.running, rig.errors]).toEqual([0, []])
  })

  it('by a hang-up before the engine is ready, and within the delay', async () => {
    const rig = new ConversationRig([new FakeEngine()], { initialDelayMs: 5000 })
    rig.conversation.hangUp()
    expect(rig.kinds).toEqual(['ended'])
    expect(rig.clock.running).toBe(0)
  })

  it('by a stop waits for the last word, which nothing interrupts', async () => {
    const rig = await opened()
    await speaks(rig)
    rig.conversation.stop()
    expect(rig.tap.mayFade).toBe(false)
    rig.voice(true, true)
    rig.link.listener.onHeard({ text: 'Stop it now', isFinal: true })
    rig.conversation.hold()
    await rig.passes(500)
    expect(rig.tap.commands.at(-1)).toEqual(['resume'])
    expect(rig.kinds).not.toContain('ended')
    rig.tap.playsAll()
    await expect(rig.conversation.ended).resolves.toEqual({ kind: 'stopped' })
    expect(rig.eventsOf('answer')).toMatchObject([{ heard: 'one two three four', isBarged: false }])
  })

  it('by a stop comes after 10 s at most, and at once in silence', async () => {
    const rig = await opened()
    await speaks(rig)
    rig.conversation.stop()
    await rig.passes(9_999)
    expect(rig.kinds).not.toContain('ended')
    await rig.passes(1)
    expect(rig.eventsOf('ended')).toMatchObject([{ end: { kind: 'stopped' } }])
    const silent = await opened()
    silent.conversation.stop()
    expect(silent.eventsOf('ended')).toMatchObject([{ end: { kind: 'stopped' } }])
  })

  it('reports what was heard of the answer that it cuts', async () => {
    const rig = await opened()
    await speaks(rig)
    await rig.passes(500)
    rig.conversation.hangUp()
    expect(rig.eventsOf('answer')).toMatchObject([{ heard: 'one two', heardMs: 500, isBarged: true }])
  })

  it('leaves the conversation for a summary', async () => {
    const rig = await opened()
    await speaks(rig)
    rig.tap.playsAll()
    rig.conversation.hangUp()
    await expect(rig.conversation.summarize('Sum up.')).resolves.toBe('Sum up. 2')
  })
})
