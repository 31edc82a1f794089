import { describe, expect, it } from 'vitest'
import type { EngineCall } from './engine.ts'
import { type ConversationChanges, ConversationRig } from './testing/conversation-rig.ts'
import { FakeEngine } from './testing/fake-engine.ts'

const lookUp = { name: 'look_up', description: 'Looks up.', parameters: {} }
const call: EngineCall = { id: 'c1', name: 'look_up', args: '{}' }

/** Conversation in which the agent has spoken 500 of 1000 ms of `one two three four`. */
const speaking = async (changes: ConversationChanges = {}, engine = new FakeEngine()) => {
  const rig = new ConversationRig([engine], changes)
  await rig.ready()
  await rig.callerSays('Count, please.')
  rig.link.answers('a', 'one two three four')
  rig.tap.plays()
  await rig.passes(500)
  rig.tap.positions = [{ item: 1, heardMs: 480 }]
  rig.tap.takeCommands()
  rig.link.commands.splice(0)
  return rig
}

/** Words of the caller over the agent's voice. */
const interrupt = async (rig: ConversationRig, text = 'Stop it now') => {
  rig.voice(true, true)
  rig.link.listener.onHeard({ text, isFinal: true })
  rig.voice(false)
  await rig.settle()
  await rig.passes(2000)
}

const callsFunction = async (rig: ConversationRig) => {
  await rig.callerSays('Look it up.')
  rig.link.listener.onAnswer('f')
  rig.link.listener.onCall('f', call)
  rig.link.listener.onAnswerEnd('f', 'completed')
  await rig.settle()
}

describe('Interruption of a conversation', () => {
  it('gives the position heard to the engine before the turn, and to the record', async () => {
    const rig = await speaking()
    await interrupt(rig)
    expect(rig.link.commandsOf('interrupt', 'commit')).toEqual([
      ['interrupt', { answer: 'a', item: 'a.1', ms: 480, text: 'one two' }, false],
      ['commit', 'Stop it now'],
    ])
    expect(rig.eventsOf('answer', 'barge', 'user')).toMatchObject([
      { kind: 'user', text: 'Count, please.' },
      { kind: 'answer', spoken: 'one two three four', heard: 'one two', heardMs: 480, isBarged: true },
      { kind: 'barge', how: 'normal', heardMs: 480, text: 'Stop it now', by: 'speech' },
      { kind: 'user', text: 'Stop it now' },
    ])
    expect(rig.conversation.request().history).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: 'one two' },
      { role: 'user', content: 'Stop it now' },
    ])
  })

  it('ignores what comes of the answer afterwards, and refuses its functions', async () => {
    const rig = await speaking({ functions: [lookUp] })
    rig.link.listener.onAnswer('b')
    await interrupt(rig)
    const { listener } = rig.link
    rig.tap.items.clear()
    listener.onText('b', 'b.1', 'late')
    listener.onAudio('b', 'b.1', new Int16Array(800))
    listener.onItemEnd('b', 'b.1')
    listener.onCall('b', call)
    listener.onAnswerEnd('b', 'cancelled')
    listener.onAudio('unknown', '1', new Int16Array(800))
    listener.onAnswerEnd('unknown', 'completed')
    await rig.settle()
    expect([rig.tap.items.size, rig.functions.length]).toEqual([0, 0])
    expect(rig.link.commandsOf('result')).toEqual([
      ['result', 'c1', 'The caller interrupted; the function did not run.', false],
    ])
    expect(rig.eventsOf('answer').map(({ answer }) => answer)).toEqual(['a', 'b'])
  })

  it('joins an early one to the turn before, and forgets the answer', async () => {
    const rig = await speaking({ turns: { transparentBargeMs: 3000 } })
    await interrupt(rig, 'to ten')
    expect(rig.link.commandsOf('interrupt', 'commit')).toEqual([
      ['interrupt', expect.objectContaining({ answer: 'a' }), true],
      ['commit', 'Count, please. to ten'],
    ])
    expect(rig.eventsOf('barge')).toMatchObject([{ how: 'transparent' }])
    expect(rig.eventsOf('user').at(-1)).toMatchObject({ merged: 1 })
    expect(rig.conversation.request().history).toEqual([{ role: 'user', content: 'Count, please. to ten' }])
  })

  it('resumes after a sound without words', async () => {
    const rig = await speaking()
    rig.voice(true, true)
    await rig.passes(100)
    rig.voice(false)
    await rig.passes(1000)
    expect(rig.tap.takeCommands()).toEqual(['pause', 'resume'])
    expect(rig.link.commands).toEqual([])
  })

  it('does not count the time of a pause as heard', async () => {
    const rig = await speaking()
    rig.voice(true, true)
    await rig.passes(200)
    rig.conversation.hangUp()
    expect(rig.eventsOf('answer')).toMatchObject([{ heardMs: 500 }])
  })

  it('undoes the reflex where the turns have no doubt', async () => {
    const rig = await speaking({ turns: { bargeFunctions: false }, functions: [lookUp] })
    rig.link.listener.onAnswer('b')
    rig.link.listener.onCall('b', call)
    rig.voice(true, true)
    expect(rig.tap.takeCommands()).toEqual(['resume'])
  })

  it('drops texts that wait, and speaks those demanded later', async () => {
    const rig = await speaking()
    const said: string[] = []
    void rig.conversation.say('First.').then(() => said.push('First.'))
    rig.voice(true, true)
    rig.link.listener.onHeard({ text: 'Stop it now', isFinal: true })
    void rig.conversation.say('Second.')
    await rig.settle()
    expect(said).toEqual(['First.'])
    expect(rig.link.commandsOf('say')).toEqual([['say', 'Second.']])
  })

  it('reports each answer once if the call ends before the position is known', async () => {
    const rig = await speaking()
    rig.voice(true, true)
    rig.link.listener.onHeard({ text: 'Stop it now', isFinal: true })
    rig.conversation.hangUp()
    await rig.settle()
    expect(rig.eventsOf('answer')).toMatchObject([{ answer: 'a', isBarged: true }])
    expect(rig.kinds.slice(-2)).toEqual(['answer', 'ended'])
    expect(rig.link.commandsOf('interrupt')).toEqual([])
  })

  it('handles an answer that is delivered twenty times faster than real time', async () => {
    const rig = new ConversationRig([new FakeEngine()])
    await rig.ready()
    await rig.callerSays('Tell a story.')
    const words = Array.from({ length: 100 }, (_, i) => `w${i}`)
    rig.link.answers('a', words.join(' '), 60_000)
    rig.tap.plays()
    await rig.passes(3000)
    rig.tap.positions = [{ item: 1, heardMs: 3000 }]
    await interrupt(rig)
    expect(rig.link.commandsOf('interrupt')).toMatchObject([['interrupt', { ms: 3000 }, false]])
    expect(rig.eventsOf('answer')[0]?.heard.split(' ').length).toBeLessThan(8)
  })
})

describe('Functions of a conversation', () => {
  const functions = [lookUp]

  it('answer to the session that called', async () => {
    const rig = new ConversationRig([new FakeEngine()], { functions })
    await rig.ready()
    await callsFunction(rig)
    rig.functions[0]?.end({ text: 'Found.' })
    await rig.settle()
    expect(rig.link.commandsOf('result')).toEqual([['result', 'c1', 'Found.', true]])
    expect(rig.eventsOf('function', 'answer')).toMatchObject([
      { kind: 'answer', calls: [call] },
      { kind: 'function', result: 'Found.', outcome: 'finished' },
    ])
  })

  it('answer to another session by a message', async () => {
    const engine = new FakeEngine()
    const rig = new ConversationRig([engine], { functions })
    await rig.ready()
    await callsFunction(rig)
    rig.link.listener.onFailure({ kind: 'connection', message: 'lost', part: 'fake' })
    await rig.ready()
    expect(rig.link.commands).toEqual([])
    rig.functions[0]?.end({ text: 'Found.' })
    await rig.settle()
    expect(engine.links).toHaveLength(2)
    expect(rig.link.commands).toEqual([['message', 'system', 'Result of look_up: Found.', true]])
  })

  it('are cancelled by an interruption', async () => {
    const rig = new ConversationRig([new FakeEngine()], { functions })
    await rig.ready()
    await callsFunction(rig)
    await interrupt(rig)
    expect(rig.functions[0]?.signal.aborted).toBe(true)
    expect(rig.link.commandsOf('interrupt', 'result', 'commit')).toMatchObject([
      ['commit', 'Look it up.'],
      ['interrupt', undefined, false],
      ['result', 'c1', expect.stringContaining('interrupted'), false],
      ['commit', 'Stop it now'],
    ])
  })

  it('stay in a history that is replaced while they run', async () => {
    const rig = new ConversationRig([new FakeEngine()], { functions })
    await rig.ready()
    await callsFunction(rig)
    rig.conversation.change({ history: [{ role: 'user', content: 'In short.' }] })
    rig.functions[0]?.end({ text: 'Found.' })
    await rig.settle()
    expect(rig.conversation.request().history).toEqual([
      { role: 'user', content: 'In short.' },
      { role: 'assistant', content: '', calls: [call] },
      { role: 'tool', callId: 'c1', name: 'look_up', content: 'Found.' },
    ])
  })
})
