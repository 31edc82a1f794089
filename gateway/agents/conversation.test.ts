import { describe, expect, it } from 'vitest'
import type { ConversationDeps } from './conversation-deps.ts'
import { ConversationRig } from './testing/conversation-rig.ts'
import { FakeEngine } from './testing/fake-engine.ts'

const greeting = { text: 'Welcome.', isInterruptible: true }
const lookUp = { name: 'look_up', description: 'Looks up.', parameters: {} }

describe('Conversation', () => {
  it('stays on hold after its initial delay, and waits for the delay after a hold', async () => {
    const hears = (rig: ConversationRig): boolean => {
      rig.tap.hears(Int16Array.of(9000))
      return rig.link.heard.at(-1) !== 0
    }
    const rig = new ConversationRig([new FakeEngine()], { initialDelayMs: 500 })
    await rig.ready()
    rig.conversation.hold()
    await rig.passes(600)
    expect(hears(rig)).toBe(false)
    rig.conversation.unhold()
    expect(hears(rig)).toBe(true)
    const brief = new ConversationRig([new FakeEngine()], { initialDelayMs: 500 })
    await brief.ready()
    brief.conversation.hold()
    brief.conversation.unhold()
    await brief.passes(400)
    expect(hears(brief)).toBe(false)
    await brief.passes(200)
    expect(hears(brief)).toBe(true)
  })

  it('begins with the greeting once an engine is ready and the delay is over', async () => {
    const rig = new ConversationRig([new FakeEngine()], { greeting, initialDelayMs: 500 })
    await rig.ready()
    expect(rig.link.commands).toEqual([])
    await rig.passes(500)
    expect(rig.link.commands).toEqual([['say', 'Welcome.']])
    expect(rig.kinds).toEqual(['started'])
  })

  it('lets the model speak first without a greeting, unless the caller does', async () => {
    const rig = new ConversationRig([new FakeEngine()], { waitForUser: false })
    await rig.ready()
    expect(rig.link.commands).toEqual([['answer', undefined]])
    const waiting = new ConversationRig([new FakeEngine()])
    await waiting.ready()
    expect(waiting.link.commands).toEqual([])
  })

  it('says its greeting before texts that were demanded earlier', async () => {
    const rig = new ConversationRig([new FakeEngine()], { greeting })
    void rig.conversation.say('Second.')
    await rig.ready()
    rig.link.answers('a', 'Welcome.')
    rig.tap.playsAll()
    await rig.settle()
    expect(rig.link.commands).toEqual([
      ['say', 'Welcome.'],
      ['say', 'Second.'],
    ])
  })

  it('gives a turn to the engine, its answer to the caller, and reports what was heard', async () => {
    const rig = new ConversationRig([new FakeEngine()])
    await rig.ready()
    await rig.callerSays('Hello there.')
    rig.link.answers('a', 'Good day.')
    rig.tap.playsAll()
    expect(rig.link.commandsOf('commit')).toEqual([['commit', 'Hello there.']])
    expect(rig.kinds).toEqual(['started', 'speech', 'partial', 'speech', 'user', 'utterance', 'answer'])
    expect(rig.eventsOf('answer')).toMatchObject([
      {
        answer: 'a',
        spoken: 'Good day.',
        heard: 'Good day.',
        heardMs: 1000,
        isBarged: false,
        isExact: false,
      },
    ])
    expect(rig.conversation.request().history).toEqual([
      { role: 'user', content: 'Hello there.' },
      { role: 'assistant', content: 'Good day.' },
    ])
  })

  it('says of each piece of an answer whether it continues the one before', async () => {
    const rig = new ConversationRig([new FakeEngine()])
    await rig.ready()
    await rig.callerSays('Hello there.')
    rig.link.begins('a', 'un')
    rig.tap.plays()
    rig.link.listener.onText('a', 'a.1', 'believ')
    rig.link.listener.onText('a', 'a.1', 'able')
    expect(rig.eventsOf('utterance').map(({ text, isMore }) => [text, isMore])).toEqual([
      ['un', undefined],
      ['believ', true],
      ['able', true],
    ])
  })

  it('rewrites recognised text by the rules of the document', async () => {
    const corrections = [{ replace: 'acme', with: 'ACME', ignoreCase: true }]
    const rig = new ConversationRig([new FakeEngine()], { corrections })
    await rig.ready()
    await rig.callerSays('Is this acme?')
    expect(rig.link.commandsOf('commit')).toEqual([['commit', 'Is this ACME?']])
  })

  it('warns once that the rules of the document are too much work for a text', async () => {
    const corrections = Array.from({ length: 100 }, (_, i) => ({
      replace: `(a|b|c|${i})x`,
      with: '',
      ignoreCase: true,
      isPattern: true,
    }))
    const rig = new ConversationRig([new FakeEngine()], { corrections })
    await rig.ready()
    await rig.callerSays('Short.')
    expect(rig.eventsOf('warning')).toEqual([])
    for (let turn = 0; turn < 2; turn++) await rig.callerSays('A long text. '.repeat(100))
    expect(rig.eventsOf('warning')).toMatchObject([{ code: 'corrections-limit' }])
  })

  it('warns about patterns and names that have no effect', async () => {
    const turns = { bargePattern: '(?=a)' }
    const corrections = [{ replace: '(?<=b)', with: '', ignoreCase: false, isPattern: true }]
    const rig = new ConversationRig([new FakeEngine()], { turns, corrections }, { warnings: ['No model x.'] })
    await rig.ready()
    expect(rig.eventsOf('warning').map(({ message }) => message)).toEqual([
      'No model x.',
      'The pattern (?=a) is not supported, and has no effect.',
      'The pattern (?<=b) is not supported, and has no effect.',
    ])
  })

  it('never lowers a protected greeting, and answers words during it afterwards', async () => {
    const rig = new ConversationRig([new FakeEngine()], {
      greeting: { text: 'Listen to this.', isInterruptible: false },
    })
    await rig.ready()
    rig.link.answers('a', 'Listen to this.', 3000)
    rig.tap.plays()
    expect(rig.tap.mayFade).toBe(false)
    // A message that the model answers meanwhile does not end the protection.
    rig.conversation.message({ role: 'system', content: 'Note.' }, true)
    await rig.settle()
    rig.link.answers('b', 'More.', 100)
    expect(rig.tap.mayFade).toBe(false)
    rig.tap.takeCommands()
    await rig.callerSays('I have a question.')
    expect(rig.tap.takeCommands()).not.toContain('pause')
    expect(rig.link.commandsOf('commit', 'interrupt')).toEqual([])
    rig.tap.playsAll()
    await rig.passes(1000)
    expect(rig.link.commandsOf('commit')).toEqual([['commit', 'I have a question.']])
    expect(rig.tap.mayFade).toBe(true)
    expect(rig.eventsOf('answer')[0]).toMatchObject({ isExact: true, isBarged: false })
  })

  it('may not be lowered by the reflex if the document forbids interruptions', async () => {
    const rig = new ConversationRig([new FakeEngine()], { turns: { barge: 'none' } })
    await rig.ready()
    expect(rig.tap.mayFade).toBe(false)
    rig.conversation.change({ turns: { barge: 'any' } })
    expect(rig.tap.mayFade).toBe(true)
  })

  it('speaks texts one at a time, and reports each as heard', async () => {
    const rig = new ConversationRig([new FakeEngine()])
    await rig.ready()
    const heard: string[] = []
    for (const text of ['One.', 'Two.']) void rig.conversation.say(text).then(() => heard.push(text))
    await rig.settle()
    expect(rig.link.commandsOf('say')).toEqual([['say', 'One.']])
    rig.link.answers('a', 'One.')
    await rig.settle()
    expect([rig.link.commandsOf('say').length, heard]).toEqual([1, []])
    rig.tap.playsAll()
    await rig.settle()
    expect(rig.link.commandsOf('say')).toEqual([
      ['say', 'One.'],
      ['say', 'Two.'],
    ])
    expect(heard).toEqual(['One.'])
    expect(rig.eventsOf('answer')).toMatchObject([{ isExact: true }])
  })

  it('is quiet when everything was heard, and waits for 10 s at most', async () => {
    const rig = new ConversationRig([new FakeEngine()])
    await rig.ready()
    const timers = rig.clock.running
    let isQuiet = false
    void rig.conversation.say('Bye.')
    await rig.settle()
    rig.link.answers('a', 'Bye.')
    void rig.conversation.quiet().then(() => (isQuiet = true))
    await rig.settle()
    expect(isQuiet).toBe(false)
    rig.tap.playsAll()
    await rig.settle()
    expect([isQuiet, rig.clock.running]).toEqual([true, timers])
    isQuiet = false
    void rig.conversation.say('Never spoken.')
    let isSilent: boolean | undefined
    void rig.conversation.quiet().then((result) => {
      isQuiet = true
      isSilent = result
    })
    await rig.passes(9_999)
    expect(isQuiet).toBe(false)
    await rig.passes(1)
    expect([isQuiet, isSilent]).toEqual([true, false])
  })

  it('is silent and deaf on hold', async () => {
    const rig = new ConversationRig([new FakeEngine()])
    await rig.ready()
    rig.link.begins('a', 'Some words.', 2000)
    rig.tap.plays()
    await rig.passes(500)
    rig.tap.takeCommands()
    rig.conversation.hold()
    rig.conversation.hold()
    rig.tap.hears(Int16Array.of(9000))
    await rig.callerSays('Not for the agent.')
    expect(rig.link.heard.at(-1)).toBe(0)
    expect(rig.link.commandsOf('commit', 'interrupt')).toEqual([])
    await rig.passes(3_600_000)
    expect(rig.tap.takeCommands()).not.toContain('resume')
    rig.conversation.unhold()
    rig.tap.hears(Int16Array.of(9000))
    expect(rig.tap.takeCommands()).toContain('resume')
    expect(rig.eventsOf('hold', 'unhold').map(({ kind }) => kind)).toEqual(['hold', 'unhold'])
    rig.conversation.hangUp()
    expect(rig.eventsOf('answer')).toMatchObject([{ heardMs: 500, isBarged: true }])
  })

  it('opens an engine again that cannot change, and keeps the changes', async () => {
    const engine = new FakeEngine('fixed', { changes: false })
    const spanish = { name: 'Spanish', code: 'es' }
    const rig = new ConversationRig([engine], { languages: [{ name: 'English', code: 'en' }, spanish] })
    await rig.ready()
    const first = rig.link
    rig.conversation.change({ prompt: 'Be brief.', language: 'es' })
    expect(engine.links).toHaveLength(2)
    // A further change while the new session is opened.
    rig.conversation.change({ functions: [lookUp] })
    expect(engine.links).toHaveLength(3)
    expect(engine.links[1]?.isClosed).toBe(true)
    expect(rig.link.request).toMatchObject({ prompt: 'Be brief.', functions: [lookUp] })
    expect(rig.link.request.languages[0]).toBe(spanish)
    await rig.ready()
    await rig.passes(100)
    expect(first.isClosed).toBe(true)
    expect(rig.eventsOf('language')).toMatchObject([{ code: 'es' }])
  })

  it('keeps earlier changes of the turns, and does not bother an engine with them', async () => {
    const engine = new FakeEngine('fixed', { changes: false })
    const rig = new ConversationRig([engine])
    await rig.ready()
    rig.conversation.change({ turns: { barge: 'none' } })
    rig.conversation.change({ turns: { keyMs: 1000 } })
    expect([engine.links.length, rig.tap.mayFade]).toEqual([1, false])
  })

  it('logs the text of a duplex engine, and drops audio that comes too late', async () => {
    const rig = new ConversationRig([
      new FakeEngine('duplex', { turns: 'duplex', pace: 'real', cut: 'none' }),
    ])
    await rig.ready()
    rig.link.listener.onHeard({ text: 'Hello', isFinal: true })
    expect(rig.eventsOf('user')).toMatchObject([{ text: 'Hello', endedBy: 'engine' }])
    rig.link.listener.onAnswer('a')
    for (let i = 0; i < 50; i++) rig.link.listener.onAudio('a', '1', new Int16Array(800))
    expect(rig.tap.items.get(1)).toBe(8 * 300)
    expect(rig.link.commands).toEqual([])
  })

  it('ends like at the hard stop when the tokens are used up', async () => {
    const turns = { hardStopPrompt: 'Say goodbye.' }
    const rig = new ConversationRig([new FakeEngine()], { turns }, { maxTokens: 1000 })
    await rig.ready()
    rig.link.listener.onUsage({ inputTokens: 900, outputTokens: 100 })
    expect(rig.eventsOf('warning')).toEqual([])
    rig.link.listener.onUsage({ inputTokens: 1 })
    rig.link.listener.onUsage({ inputTokens: 1 })
    await rig.settle()
    expect(rig.eventsOf('warning')).toMatchObject([{ code: 'token-limit' }])
    expect(rig.link.commands).toEqual([['answer', 'Say goodbye.']])
    rig.link.answers('a', 'Goodbye.')
    rig.tap.playsAll()
    await expect(rig.conversation.ended).resolves.toEqual({ kind: 'limit' })
  })

  it('reports errors of the listener, and goes on', async () => {
    const rig = new ConversationRig([new FakeEngine()], {
      greeting,
      onEvent: () => {
        throw new Error('listener')
      },
    })
    await rig.ready()
    expect(rig.link.commands).toEqual([['say', 'Welcome.']])
    expect(rig.errors).toHaveLength(1)
  })
})

describe('Fillers of a conversation', () => {
  const languages = [{ name: 'English', code: 'en', speechFillers: ['Hm.'], turnFillers: ['Go on.'] }]

  it('are said while the model thinks', async () => {
    const rig = new ConversationRig([new FakeEngine()], { languages })
    await rig.ready()
    await rig.callerSays('A hard question?')
    await rig.passes(700)
    expect(rig.eventsOf('filler')).toMatchObject([{ text: 'Hm.' }])
    expect(rig.tap.items.size).toBe(1)
  })

  it.each<[string, (rig: ConversationRig) => void]>([
    ['the answer has begun', (rig) => rig.link.begins('a', 'Yes.')],
    ['the caller speaks', (rig) => rig.voice(true)],
    ['the conversation is on hold', (rig) => rig.conversation.hold()],
    ['the call has ended', (rig) => rig.conversation.hangUp()],
  ])('are dropped if they are rendered when %s', async (_, happens) => {
    const rig = new ConversationRig([new FakeEngine()], { languages })
    await rig.ready()
    rig.isRenderingLate = true
    await rig.callerSays('A hard question?')
    await rig.passes(700)
    expect(rig.renderings).toHaveLength(1)
    happens(rig)
    rig.tap.plays()
    for (const finish of rig.renderings) finish()
    await rig.settle()
    expect(rig.eventsOf('filler')).toEqual([])
  })

  it('never leave the tap lowered, if the caller goes on during one', async () => {
    const rig = new ConversationRig([new FakeEngine()], { languages, turns: { isSemantic: true } })
    await rig.ready()
    rig.voice(true)
    rig.clock.advance(500)
    rig.link.listener.onHeard({ text: 'My number is one two three', isFinal: false })
    rig.voice(false)
    await rig.passes(750)
    expect(rig.eventsOf('filler')).toMatchObject([{ text: 'Go on.' }])
    rig.tap.plays()
    rig.tap.takeCommands()
    rig.voice(true, true)
    expect(rig.tap.takeCommands()).toEqual(['cut'])
  })

  it('precede a function that waits for them', async () => {
    const functions = [{ ...lookUp, fillers: { default: ['One moment.'] }, waitForFillers: true }]
    const rig = new ConversationRig([new FakeEngine()], { functions })
    await rig.ready()
    await rig.callerSays('Look it up.')
    rig.link.listener.onAnswer('a')
    rig.link.listener.onCall('a', { id: 'c', name: 'look_up', args: '{}' })
    rig.link.listener.onAnswerEnd('a', 'completed')
    await rig.settle()
    expect([rig.functions.length, rig.tap.items.size]).toEqual([0, 1])
    rig.tap.playsAll()
    await rig.settle()
    expect(rig.functions).toHaveLength(1)
  })
})

describe('The sound of a function', () => {
  const functions = [
    {
      ...lookUp,
      fillers: { default: ['One moment.'] },
      waitSound: { url: 'https://x.example/w.wav', loops: 4 },
    },
  ]
  const calling = async (deps: Partial<ConversationDeps> = {}) => {
    const rig = new ConversationRig([new FakeEngine()], { functions }, deps)
    await rig.ready()
    await rig.callerSays('Look it up.')
    rig.link.listener.onAnswer('a')
    rig.link.listener.onCall('a', { id: 'c', name: 'look_up', args: '{}' })
    rig.link.listener.onAnswerEnd('a', 'completed')
    await rig.settle()
    const sounds = () => rig.tap.commands.filter(([name]) => name === 'background').map(([, sound]) => sound)
    return { rig, sounds }
  }

  it('is played after the filler while it runs', async () => {
    const { rig, sounds } = await calling()
    expect([rig.functions.length, sounds()]).toEqual([1, []])
    rig.tap.playsAll()
    await rig.settle()
    expect(sounds()).toMatchObject([{ volumeDb: 0, loops: 4, sampleRate: 8000 }])
    rig.functions[0]?.end({ text: 'Found.' })
    await rig.settle()
    expect(sounds().slice(1)).toEqual([undefined])
  })

  it('ends with an interruption', async () => {
    const { rig, sounds } = await calling()
    rig.tap.playsAll()
    await rig.settle()
    await rig.callerSays('Stop it.')
    expect(rig.functions[0]?.signal.aborted).toBe(true)
    expect(sounds().slice(1)).toEqual([undefined])
  })

  it('that cannot be loaded is a warning', async () => {
    const { rig, sounds } = await calling({ loadSound: () => Promise.reject(new Error('404')) })
    rig.tap.playsAll()
    await rig.settle()
    expect(sounds()).toEqual([])
    expect(rig.eventsOf('warning')).toMatchObject([{ code: 'background-failed' }])
    rig.functions[0]?.end({ text: 'Found.' })
    await rig.settle()
    expect(sounds()).toEqual([])
  })
})
