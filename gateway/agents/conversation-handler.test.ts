import { describe, expect, it } from 'vitest'
import type { AgentText } from '../../handlers/verbs.ts'
import type { EngineSound } from './engine.ts'
import { ConversationRig } from './testing/conversation-rig.ts'
import { FakeEngine } from './testing/fake-engine.ts'

const french = { name: 'French', code: 'fr', voice: 'acme.lea' }
const written: AgentText = { read: () => () => {} }

/** Rules of a conversation whose handler answers. */
const turns = { answerMs: 0, keys: 'interrupt' } as const

const begun = async (changes: ConstructorParameters<typeof ConversationRig>[1] = {}, deps = {}) => {
  const rig = new ConversationRig([new FakeEngine()], { answers: 'handler', turns, ...changes }, deps)
  await rig.ready()
  return rig
}

describe('a conversation that the handler answers', () => {
  it('speaks texts that are being written, sounds, and texts in another language, in order', async () => {
    const loaded: string[] = []
    const loadSound = async (url: string) => {
      loaded.push(url)
      return { sampleRate: 16_000, samples: new Int16Array(new SharedArrayBuffer(64)) } as const
    }
    const rig = await begun({}, { loadSound })
    const first = rig.conversation.say(written)
    void rig.conversation.say('Bonjour.', { isInterruptible: false, language: french })
    void rig.conversation.say({ url: 'https://x.example/a.wav', loops: 2 })
    await rig.settle()
    expect(rig.link.commands).toEqual([['speak', written, undefined]])
    expect(loaded).toEqual(['https://x.example/a.wav'])
    rig.link.answers('a', 'Good day.')
    rig.tap.playsAll()
    await first
    await rig.settle()
    expect(rig.link.commands.slice(1)).toEqual([['speak', 'Bonjour.', french]])
    expect(rig.tap.mayFade).toBe(true)
    rig.link.answers('b', 'Bonjour.')
    expect(rig.tap.mayFade).toBe(false)
    rig.tap.playsAll()
    await rig.settle()
    const [, sound] = rig.link.commands.at(-1) as [string, EngineSound]
    const { samples, sampleRate } = await sound.load()
    expect([sound.loops, samples.length, sampleRate]).toEqual([2, 32, 16_000])
  })

  it('speaks what an engine without sounds can, and gives the rest up at once', async () => {
    const rig = await begun()
    Object.defineProperty(rig.link, 'speak', { value: undefined })
    const sound = rig.conversation.say({ url: 'https://x.example/a.wav', loops: 1 })
    const draft = rig.conversation.say(written)
    const text = rig.conversation.say('Bonjour.', { language: french })
    await rig.settle()
    await Promise.all([sound, draft])
    expect(rig.eventsOf('warning').map(({ code }) => code)).toEqual([
      'speech-unsupported',
      'speech-unsupported',
    ])
    expect(rig.link.commands).toEqual([['say', 'Bonjour.']])
    rig.link.answers('a', 'Bonjour.')
    rig.tap.playsAll()
    await text
    expect(rig.eventsOf('answer')).toMatchObject([{ heard: 'Bonjour.', isExact: true }])
  })

  it('has turns without an answer, whose times belong to the next answer', async () => {
    const responses: number[] = []
    const observer = { onEngineFailure: () => {}, onInterruption: () => {}, onError: () => {} }
    const rig = await begun(
      {},
      { observer: { ...observer, onResponse: (_: unknown, ms: number) => responses.push(ms) } },
    )
    await rig.callerSays('Hello.')
    rig.link.listener.onAnswer('none')
    rig.link.listener.onAnswerEnd('none', 'completed')
    await rig.passes(60_000)
    expect(rig.eventsOf('warning')).toEqual([])
    expect(rig.link.commandsOf('answer')).toEqual([])
    void rig.conversation.say(written)
    await rig.settle()
    rig.link.answers('a', 'At last.')
    rig.tap.playsAll()
    expect(responses).toEqual([expect.any(Number)])
    expect(responses[0]).toBeGreaterThan(60_000)
  })

  it('waits for the rest of a text, however long it is being written', async () => {
    const engine = new FakeEngine()
    const rig = new ConversationRig([engine], { answers: 'handler', turns })
    await rig.ready()
    void rig.conversation.say(written)
    await rig.settle()
    rig.link.listener.onAnswer('a')
    await rig.passes(120_000)
    rig.link.listener.onText('a', 'a.1', 'One.')
    rig.link.listener.onAudio('a', 'a.1', new Int16Array(800))
    rig.link.listener.onItemEnd('a', 'a.1')
    rig.tap.playsAll()
    await rig.passes(120_000)
    expect([engine.links.length, rig.eventsOf('answer'), rig.eventsOf('barge')]).toEqual([1, [], []])
    rig.link.listener.onAnswerEnd('a', 'completed')
    expect(rig.eventsOf('answer')).toMatchObject([{ spoken: 'One.', isBarged: false }])
    await rig.passes(500_000)
    expect(rig.eventsOf('ended')).toMatchObject([{ end: { kind: 'inactive' } }])
  })

  it('is interrupted by a key, which is no turn', async () => {
    const rig = await begun()
    void rig.conversation.say(written)
    await rig.settle()
    rig.link.begins('a', 'A long text.')
    rig.tap.plays()
    rig.conversation.digit('5')
    await rig.passes(10_000)
    expect(rig.eventsOf('barge', 'user')).toMatchObject([{ kind: 'barge', text: '5', by: 'keys' }])
    rig.conversation.change({ turns: { keys: 'ignored' } })
    void rig.conversation.say(written)
    await rig.settle()
    rig.link.begins('b', 'Another text.')
    rig.tap.plays()
    rig.conversation.digit('6')
    await rig.passes(10)
    expect(rig.eventsOf('barge')).toHaveLength(1)
  })

  it('cuts what is said for what follows', async () => {
    const rig = await begun()
    const first = rig.conversation.say(written)
    void rig.conversation.say('Dropped.')
    await rig.settle()
    rig.link.begins('a', 'A long text.')
    rig.tap.plays()
    rig.conversation.cut()
    void rig.conversation.say('Next.')
    await first
    await rig.settle()
    expect(rig.eventsOf('answer', 'barge')).toMatchObject([
      { kind: 'answer', isBarged: true },
      { kind: 'barge', text: '' },
    ])
    expect(rig.link.commandsOf('say')).toEqual([['say', 'Next.']])
    rig.conversation.cut()
    expect(rig.errors).toEqual([])
  })

  it('cuts a text that has not begun, and keeps what follows', async () => {
    const rig = await begun()
    const first = rig.conversation.say('One moment.')
    rig.conversation.cut()
    void rig.conversation.say('Ready.')
    await first
    await rig.settle()
    expect(rig.link.commands).toEqual([['say', 'Ready.']])
    rig.conversation.cut()
    void rig.conversation.say('Now.')
    await rig.settle()
    expect(rig.link.commands.slice(1)).toEqual([
      ['interrupt', undefined, false],
      ['say', 'Now.'],
    ])
    rig.link.answers('a', 'Now.')
    rig.tap.playsAll()
    await rig.passes(60_000)
    expect(rig.eventsOf('answer', 'barge')).toMatchObject([
      { kind: 'barge', how: 'given-up', text: '' },
      { kind: 'answer', heard: 'Now.', isBarged: false },
    ])
    expect(rig.errors).toEqual([])
  })

  it('cuts what waits for the end of a hold, and keeps the hold', async () => {
    const rig = await begun()
    const first = rig.conversation.say('One moment.')
    await rig.settle()
    rig.link.begins('a', 'One moment.')
    rig.tap.plays()
    rig.conversation.hold()
    rig.tap.takeCommands()
    rig.conversation.cut()
    void rig.conversation.say('Ready.')
    await first
    await rig.settle()
    expect(rig.tap.takeCommands()).toEqual(['cut', 'pause'])
    expect(rig.link.commandsOf('say')).toEqual([
      ['say', 'One moment.'],
      ['say', 'Ready.'],
    ])
    rig.link.answers('b', 'Ready.')
    rig.conversation.unhold()
    expect(rig.tap.takeCommands()).toContain('resume')
    rig.tap.playsAll()
    expect(rig.eventsOf('answer')).toMatchObject([{ isBarged: true }, { heard: 'Ready.', isBarged: false }])
  })

  it('changes to a language that the document does not list', async () => {
    const rig = await begun()
    const language = { ...french, heard: 'de' }
    rig.conversation.change({ language })
    expect(rig.link.commandsOf('change')).toEqual([['change', { language }]])
    expect(rig.conversation.request().languages.map(({ code }) => code)).toEqual(['fr'])
  })
})
