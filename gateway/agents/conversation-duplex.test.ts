import { describe, expect, it } from 'vitest'
import { ConversationRig } from './testing/conversation-rig.ts'
import { FakeEngine } from './testing/fake-engine.ts'

/** Conversation in which the caller has spoken over an answer of an engine that hears while it speaks. */
const spokenOver = async () => {
  const engine = new FakeEngine('live', { turns: 'duplex', cut: 'none', isExact: false })
  const rig = new ConversationRig([engine])
  await rig.ready()
  rig.link.listener.onHeard({ text: 'Which tea is there?', isFinal: true })
  rig.link.begins('a', 'Green tea.')
  rig.link.listener.onHeard({ text: 'Mm-hm.', isFinal: true })
  rig.link.listener.onAnswerEnd('a', 'completed')
  rig.tap.playsAll()
  await rig.settle()
  return { engine, rig }
}

describe('Words of the caller over an answer of a duplex engine', () => {
  it('are recorded, and do not take the place of a text that follows', async () => {
    const { rig } = await spokenOver()
    expect(rig.eventsOf('user').map(({ text }) => text)).toEqual(['Which tea is there?', 'Mm-hm.'])
    const said = rig.conversation.say('Goodbye.')
    await rig.settle()
    expect(rig.link.commands).toEqual([['say', 'Goodbye.']])
    rig.link.listener.onHeard({ text: 'Bye.', isFinal: true })
    rig.link.answers('b', 'Goodbye.')
    rig.tap.playsAll()
    await said
    expect(rig.eventsOf('answer').map(({ spoken, isExact }) => [spoken, isExact])).toEqual([
      ['Green tea.', false],
      ['Goodbye.', true],
    ])
  })

  it('ask the next session for nothing', async () => {
    const { engine, rig } = await spokenOver()
    rig.link.listener.onClosing(30_000)
    await rig.ready()
    await rig.passes(1000)
    expect([engine.links.length, engine.links[0]?.isClosed]).toEqual([2, true])
    expect(rig.link.commandsOf('answer')).toEqual([])
  })
})
