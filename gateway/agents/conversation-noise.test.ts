import { describe, expect, it } from 'vitest'
import type { SpeechDetector } from './detector/speech-detector.ts'
import { ConversationRig } from './testing/conversation-rig.ts'
import { FakeEngine } from './testing/fake-engine.ts'

/** Conversation with a detector whose results a test gives. */
const open = async () => {
  const windows: ((probability: number) => void)[] = []
  const detector: SpeechDetector = {
    threshold: 0.5,
    open: (onWindow) => {
      windows.push(onWindow)
      return { begin: () => {}, hear: () => true, close: () => windows.splice(0) }
    },
    close: async () => {},
  }
  const rig = new ConversationRig([new FakeEngine()], {}, { detector })
  await rig.ready()
  /** The detector hears so many windows of 32 ms. */
  const hears = (probability: number, count: number) => {
    for (let i = 0; i < count; i++) for (const window of windows) window(probability)
  }
  return { rig, hears, windows }
}

/** Conversation in which the agent speaks. */
const speaking = async () => {
  const opened = await open()
  const { rig, hears } = opened
  rig.voice(true)
  hears(0.9, 2)
  rig.link.listener.onHeard({ text: 'Count, please.', isFinal: true })
  rig.voice(false)
  await rig.passes(2000)
  rig.link.answers('a', 'one two three four')
  rig.tap.plays()
  rig.tap.takeCommands()
  rig.events.splice(0)
  return opened
}

describe('A conversation with a detector', () => {
  it('goes on as soon as a sound over the agent is known to be noise', async () => {
    const { rig, hears } = await speaking()
    rig.voice(true, true)
    await rig.passes(120)
    hears(0.1, 5)
    expect(rig.tap.takeCommands()).toEqual(['pause'])
    hears(0.1, 1)
    expect(rig.tap.takeCommands()).toEqual(['resume'])
    rig.voice(false)
    expect(rig.verdicts).toEqual(['voice', 'noise'])
    expect(rig.events).toMatchObject([
      { kind: 'speech', state: 'began' },
      { kind: 'speech', state: 'ended' },
    ])
    rig.tap.playsAll()
    expect(rig.eventsOf('answer')).toMatchObject([{ heard: 'one two three four', isBarged: false }])
  })

  it('does not hear noise in a silence', async () => {
    const { rig, hears } = await open()
    rig.voice(true)
    await rig.passes(200)
    hears(0.1, 20)
    rig.voice(false)
    expect([rig.kinds, rig.verdicts]).toEqual([['started'], ['noise']])
  })

  it('goes on if the media thread lowers an answer for a noise that was there before', async () => {
    const { rig, hears } = await speaking()
    rig.tap.playsAll()
    await rig.passes(100)
    rig.voice(true)
    hears(0.1, 10)
    rig.link.begins('b', 'five')
    rig.tap.plays()
    rig.tap.takeCommands()
    rig.voice(true, true)
    expect(rig.tap.takeCommands()).toEqual(['resume'])
  })

  it('takes words for voice, whatever the detector hears', async () => {
    const { rig, hears } = await open()
    rig.voice(true)
    hears(0.1, 4)
    rig.link.listener.onHeard({ text: 'Count', isFinal: false })
    hears(0.1, 10)
    rig.link.listener.onHeard({ text: 'Count, please.', isFinal: true })
    rig.voice(false)
    await rig.passes(2000)
    expect(rig.link.commandsOf('commit')).toEqual([['commit', 'Count, please.']])
    expect(rig.verdicts).toEqual(['unknown'])
  })

  it('closes its stream', async () => {
    const { rig, windows } = await open()
    rig.conversation.hangUp()
    expect(windows).toEqual([])
  })
})
