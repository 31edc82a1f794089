import { describe, expect, it } from 'vitest'
import { FakeCall } from '../testing/fake-call.ts'
import { FakeContext } from '../testing/fake-context.ts'
import { VerbFailed } from '../verbs.ts'
import { RelaySession } from './relay-session.ts'
import type { RelayOptions } from './relay-types.ts'

const options: RelayOptions = {
  url: 'wss://x.example/relay',
  language: { name: 'en-US', code: 'en-US', heard: 'en-US' },
  languages: [{ name: 'es-ES', code: 'es-ES', heard: 'es-ES', voice: 'Google.es' }],
  hints: ['pizza'],
  interruptible: 'any',
  sensitivity: 'high',
  isBackchannelIgnored: true,
  reported: 'none',
  isPreemptible: false,
  hasKeys: true,
  hasPartials: false,
  reports: new Set(),
  parameters: { table: '7' },
}

const settle = () => new Promise(setImmediate)

/** Begins a session, whose conversation the test drives. */
const begin = async (changes: Partial<RelayOptions> = {}, call = new FakeCall()) => {
  const context = new FakeContext()
  const warnings: string[] = []
  call.talks.push(() => {})
  // The last words end by themselves.
  call.during.set('sleep', () => new Promise(() => {}))
  const session = new RelaySession(
    { ...options, ...changes },
    {
      call,
      context,
      setup: { callSid: 'c-1' },
      warn: (code, message) => warnings.push(`${code} ${message}`),
    },
  )
  const result = session.run()
  await settle()
  const [socket] = context.sockets
  return { call, context, warnings, result, socket: socket!, agent: call.agents[0]! }
}

describe('a session with a text server', () => {
  it('introduces the call, and starts an agent without a model', async () => {
    const { socket, agent, call } = await begin({ greeting: { text: 'Hi.', interruptible: 'dtmf' } })
    expect(socket.request).toEqual({ url: options.url, maxMessageBytes: 65_536 })
    expect(socket.sent).toEqual([
      { type: 'setup', sessionId: expect.any(String), callSid: 'c-1', customParameters: { table: '7' } },
    ])
    expect(agent.options).toMatchObject({
      answers: 'handler',
      languages: [options.language],
      hints: ['pizza'],
      turns: { barge: 'none', keys: 'interrupt', transparentBargeMs: 0, answerMs: 0, endOfSpeechMs: 700 },
    })
    expect(agent.of('say')).toMatchObject([[{ text: 'Hi.' }, { isInterruptible: true }]])
    call.end()
  })

  it('hands over the turns of the caller, and what was heard of the answers', async () => {
    const { socket, agent } = await begin({
      hasPartials: true,
      reports: new Set(['tokens-played', 'speaker-events']),
    })
    agent.emit({ kind: 'speech', state: 'began' })
    agent.emit({ kind: 'partial', text: 'A pizza', isBarge: false })
    agent.hear('A pizza, please.')
    agent.emit({ kind: 'user', text: 'Una pizza', by: 'speech', merged: 0, language: 'es' })
    agent.heard = new Promise(() => {})
    socket.receives({ type: 'text', token: 'Which size? Small or large?', last: true })
    agent.emit({ kind: 'utterance', answer: 'a', text: 'Which size?' })
    agent.emit({ kind: 'utterance', answer: 'a', text: 'Small or large?' })
    const cut = {
      answer: 'a',
      spoken: 'Which size? Small or large?',
      heard: 'Which size? Small',
      heardMs: 900,
    }
    agent.emit({ kind: 'answer', ...cut, isBarged: true, isExact: true, calls: [], stamps: {} })
    agent.emit({ kind: 'barge', how: 'normal', heardMs: 900, text: 'Small' })
    expect(socket.sent.slice(1)).toEqual([
      { type: 'info', name: 'clientSpeaking', value: 'on' },
      { type: 'prompt', voicePrompt: 'A pizza', lang: 'en-US', last: false },
      { type: 'prompt', voicePrompt: 'A pizza, please.', lang: 'en-US', last: true },
      { type: 'prompt', voicePrompt: 'Una pizza', lang: 'es', last: true },
      { type: 'info', name: 'agentSpeaking', value: 'on' },
      { type: 'info', name: 'tokensPlayed', value: 'Which size?' },
      { type: 'info', name: 'tokensPlayed', value: ' Small' },
      { type: 'info', name: 'agentSpeaking', value: 'off' },
      { type: 'interrupt', utteranceUntilInterrupt: 'Which size? Small', durationUntilInterruptMs: 900 },
    ])
  })

  it('reports what was heard of a text as it was sent', async () => {
    const { socket, agent } = await begin({ reports: new Set(['tokens-played']) })
    agent.heard = new Promise(() => {})
    const ended = { heardMs: 900, isExact: true, calls: [], stamps: {} }
    const played = () => socket.of('info').map(({ value }) => value)
    for (const token of ['こんにちは。', '**お元気**ですか。', 'は']) socket.receives({ type: 'text', token })
    for (const text of ['こんにちは。', 'お元気ですか。'])
      agent.emit({ kind: 'utterance', answer: 'a', text })
    const heard = 'こんにちは。 お元気ですか。'
    // The engine fails, and another one speaks the rest.
    agent.emit({ kind: 'answer', answer: 'a', spoken: heard, heard, isBarged: false, ...ended })
    socket.receives({ type: 'text', token: 'い。\n\nOne,  two  [three](https://x.example).' })
    agent.emit({ kind: 'utterance', answer: 'b', text: 'はい。' })
    agent.emit({ kind: 'utterance', answer: 'b', text: 'One, two three.' })
    const cut = { answer: 'b', spoken: 'はい。 One, two three.', heard: 'はい。 One, two' }
    agent.emit({ kind: 'answer', ...cut, isBarged: true, ...ended })
    expect(played()).toEqual(['こんにちは。', '**お元気**ですか。', 'はい。', '\n\nOne,  two'])
  })

  it('reports no interruption of its own, no empty answer, and no turn of keys', async () => {
    const { socket, agent } = await begin()
    const none = { isExact: true, calls: [], stamps: {} }
    agent.emit({ kind: 'answer', answer: 'a', spoken: 'x', heard: '', heardMs: 0, isBarged: true, ...none })
    agent.emit({ kind: 'barge', how: 'normal', heardMs: 0, text: '' })
    agent.emit({ kind: 'answer', answer: 'b', spoken: '', heard: '', heardMs: 0, isBarged: true, ...none })
    agent.emit({ kind: 'barge', how: 'normal', heardMs: 0, text: 'Hello' })
    agent.emit({ kind: 'user', text: '42', by: 'keys', merged: 0 })
    agent.emit({ kind: 'partial', text: 'Hel', isBarge: false })
    expect(socket.sent.slice(1)).toEqual([])
  })

  it.each([
    ['none', [], []],
    ['dtmf', ['5'], []],
    ['speech', [], ['Over it.']],
    ['any', ['5'], ['Over it.']],
  ] as const)('reports input over protected speech: %s', async (reported, digits, prompts) => {
    const { socket, agent, call } = await begin({ reported, interruptible: 'none' })
    agent.heard = new Promise(() => {})
    socket.receives({ type: 'text', token: 'Listen.', last: true })
    call.press('5')
    const ended = { answer: 'a', spoken: 'Listen.', heard: 'Listen.', heardMs: 500 }
    agent.emit({ kind: 'answer', ...ended, isBarged: false, isExact: true, calls: [], stamps: {} })
    const turn = { kind: 'user', by: 'speech', merged: 0 } as const
    agent.emit({ ...turn, text: 'Over it.', startedAt: agent.time - 400, endedAt: agent.time - 10 })
    agent.emit({ ...turn, text: 'After it.', startedAt: agent.time - 400, endedAt: agent.time + 10 })
    expect(socket.of('dtmf').map(({ digit }) => digit)).toEqual(digits)
    expect(socket.of('prompt').map(({ voicePrompt }) => voicePrompt)).toEqual([...prompts, 'After it.'])
  })

  it('reports keys at any other time, if it is to', async () => {
    const { socket, call } = await begin()
    call.press('1')
    expect(socket.of('dtmf')).toEqual([{ type: 'dtmf', digit: '1' }])
    const deaf = await begin({ hasKeys: false })
    deaf.call.press('1')
    expect(deaf.socket.of('dtmf')).toEqual([])
  })

  it('obeys the server', async () => {
    const { socket, agent, call } = await begin()
    socket.receives({ type: 'text', token: 'Hola', lang: 'es-es', last: true })
    socket.receives({ type: 'sendDigits', digits: '1w2' })
    socket.receives({ type: 'language', ttsLanguage: 'es-ES' })
    socket.receives({ type: 'language', transcriptionLanguage: 'fr-FR' })
    await settle()
    expect(agent.of('say')).toMatchObject([[{ text: 'Hola' }, { language: { voice: 'Google.es' } }]])
    expect(call.verbs).toContainEqual(['sendDigits', '1w2'])
    expect(agent.of('change')).toEqual([
      [{ language: { ...options.languages[0], heard: 'en-US' } }],
      [{ language: { ...options.languages[0], heard: 'fr-FR' } }],
    ])
    agent.hear('Bonjour.')
    expect(socket.of('prompt')).toMatchObject([{ lang: 'fr-FR' }])
  })

  it('takes commands from outside', async () => {
    const { agent, socket, call, result } = await begin()
    const { commands } = agent.options
    commands?.message({ role: 'assistant', content: 'We close soon.' })
    commands?.message({ role: 'user', content: 'Typed.' })
    commands?.message({ role: 'system', content: 'Be brief.' })
    expect(agent.of('say')).toMatchObject([[{ text: 'We close soon.' }, {}]])
    expect(socket.of('prompt')).toMatchObject([{ voicePrompt: 'Typed.', last: true }])
    const waits: (() => void)[] = []
    call.during.set('sleep', () => new Promise<void>((resolve) => waits.push(resolve)))
    commands?.hold(30)
    commands?.hold(60)
    expect([agent.names.slice(-1), call.names.slice(-3)]).toEqual([['hold'], ['hold', 'sleep', 'sleep']])
    waits[0]?.()
    await settle()
    expect(agent.names.at(-1)).toBe('hold')
    waits[1]?.()
    await settle()
    commands?.unhold()
    expect([agent.names.slice(-2), call.names.at(-1)]).toEqual([['hold', 'unhold'], 'unhold'])
    commands?.stop()
    expect((await result).end).toEqual({ status: 'ended' })
  })

  it('speaks the prompts of a hold before and after it', async () => {
    const { agent, call } = await begin()
    const { commands } = agent.options
    const spoken = Promise.withResolvers<void>()
    agent.heard = spoken.promise
    commands?.hold(30, 'One moment.')
    await settle()
    expect([agent.of('say'), agent.names, call.names.includes('hold')]).toMatchObject([
      [[{ text: 'One moment.' }, {}]],
      ['say'],
      false,
    ])
    spoken.resolve()
    await settle()
    expect([agent.names.at(-1), call.names.includes('hold')]).toEqual(['hold', true])
    commands?.unhold('Thank you.')
    expect(agent.names.slice(-2)).toEqual(['unhold', 'say'])
    expect(agent.of('say').at(-1)).toMatchObject([{ text: 'Thank you.' }, {}])
  })

  it('holds ten seconds later if the prompt is not heard to its end, and not after an unhold', async () => {
    const { agent, call } = await begin()
    const { commands } = agent.options
    const waits: (() => void)[] = []
    call.during.set('sleep', () => new Promise<void>((resolve) => waits.push(resolve)))
    const spoken = Promise.withResolvers<void>()
    agent.heard = spoken.promise
    commands?.hold(30, 'One moment.')
    expect(call.verbs.at(-1)).toEqual(['sleep', 10_000])
    waits[0]?.()
    await settle()
    // The rest of the prompt would be spoken after the hold.
    expect(agent.names.slice(-2)).toEqual(['cut', 'hold'])
    commands?.unhold()
    commands?.hold(30, 'Again.')
    commands?.unhold()
    spoken.resolve()
    await settle()
    expect(agent.names.filter((name) => name === 'hold')).toHaveLength(1)
  })

  it('ends a hold before its last words, after which none begins', async () => {
    const { agent, call, socket, result } = await begin()
    const { commands } = agent.options
    const spoken = Promise.withResolvers<void>()
    agent.heard = spoken.promise
    commands?.hold(30)
    socket.receives({ type: 'text', token: 'Goodbye.', last: true })
    socket.receives({ type: 'end' })
    await settle()
    commands?.hold(30)
    await settle()
    expect(agent.names).toEqual(['hold', 'say', 'unhold'])
    spoken.resolve()
    await result
    expect(call.names.filter((name) => name.endsWith('hold'))).toEqual(['hold', 'unhold'])
  })

  it('sends digits in order, and all of them before it ends', async () => {
    const call = new FakeCall()
    const ends: (() => void)[] = []
    call.during.set('sendDigits', () => new Promise<void>((resolve) => ends.push(resolve)))
    const { socket, agent, result } = await begin({}, call)
    const sent = () => call.verbs.filter(([name]) => name === 'sendDigits').map(([, digits]) => digits)
    for (const digits of ['12', '34']) socket.receives({ type: 'sendDigits', digits })
    socket.receives({ type: 'end' })
    await settle()
    expect(sent()).toEqual(['12'])
    ends[0]?.()
    await settle()
    expect([sent(), agent.names]).toEqual([['12', '34'], []])
    ends[1]?.()
    expect((await result).end).toEqual({ status: 'ended' })
  })

  it('ends if too many digits wait, and cancels them', async () => {
    const call = new FakeCall()
    let signal: AbortSignal | undefined
    call.sendDigits = (_: string, options: { readonly signal?: AbortSignal } = {}) => {
      signal = options.signal
      return new Promise(() => {})
    }
    const { socket, result } = await begin({}, call)
    for (let count = 0; count < 4; count++) socket.receives({ type: 'sendDigits', digits: '1'.repeat(64) })
    await settle()
    expect([signal?.aborted, socket.of('error')]).toEqual([false, []])
    socket.receives({ type: 'sendDigits', digits: '2' })
    expect((await result).end).toMatchObject({ status: 'failed', code: '64107' })
    expect([signal?.aborted, socket.of('error')]).toMatchObject([
      true,
      [{ description: 'Invalid message received: too many digits wait' }],
    ])
  })

  it('drops what waits if the caller interrupts the last words, without a report', async () => {
    const { socket, agent, result } = await begin()
    const spoken = Promise.withResolvers<void>()
    agent.heard = spoken.promise
    socket.receives({ type: 'text', token: 'Goodbye.', last: true })
    socket.receives({ type: 'text', token: 'And one thing more.', last: true })
    socket.receives({ type: 'end' })
    await settle()
    const cut = { answer: 'a', spoken: 'Goodbye.', heard: 'Good', heardMs: 200, isBarged: true }
    agent.emit({ kind: 'answer', ...cut, isExact: true, calls: [], stamps: {} })
    agent.emit({ kind: 'barge', how: 'normal', heardMs: 200, text: 'Bye' })
    spoken.resolve()
    await result
    expect(agent.of('say')).toMatchObject([[{ text: 'Goodbye.' }, {}]])
    expect(socket.of('interrupt')).toEqual([])
  })

  it.each([
    ['a key', '1', 'keys', true, ['Press one ', 'You pressed one.']],
    ['the first of several keys', '12', 'keys', true, ['Press one ', 'You pressed one.']],
    ['a key that the server does not receive', '1', 'keys', false, ['Press one ']],
    ['words', 'one', 'speech', true, ['Press one ']],
    ['a word like an earlier key', '1', 'speech', true, ['Press one ']],
  ] as const)(
    'takes a text soon after an interruption by %s for an answer, or for the rest',
    async (_what, pressed, by, hasKeys, spoken) => {
      const { socket, agent, call, context } = await begin({ hasKeys })
      socket.receives({ type: 'text', token: 'Press one ' })
      for (const key of pressed.replace(/[a-z]/g, '')) call.press(key)
      const text = by === 'keys' ? '1' : pressed
      agent.emit({ kind: 'barge', how: 'normal', heardMs: 200, text, by })
      await settle()
      context.time += 300
      socket.receives({ type: 'text', token: 'You pressed one.', last: true })
      await settle()
      expect(agent.of('say').map(([said]) => (said as { readonly text: string }).text)).toEqual(spoken)
    },
  )

  it('keeps what the server sends before the agent has started', async () => {
    const call = new FakeCall()
    const started = Promise.withResolvers<void>()
    call.during.set('startAgent', () => started.promise)
    const { socket } = await begin({}, call)
    socket.receives({ type: 'text', token: 'Early.', last: true })
    started.resolve()
    await settle()
    expect(call.agents[0]?.of('say')).toMatchObject([[{ text: 'Early.' }, {}]])
  })

  it('keeps many early messages in order, and ends if they are too large together', async () => {
    const starting = async () => {
      const call = new FakeCall()
      const started = Promise.withResolvers<void>()
      call.during.set('startAgent', () => started.promise)
      return { ...(await begin({}, call)), started }
    }
    const many = await starting()
    for (let count = 0; count < 150; count++)
      many.socket.receives({ type: 'text', token: `${count}.`, last: true })
    many.socket.receives({ type: 'end' })
    many.started.resolve()
    expect((await many.result).end).toEqual({ status: 'ended' })
    expect(many.call.agents[0]?.of('say').map(([what]) => (what as { text: string }).text)).toEqual(
      Array.from({ length: 150 }, (_, count) => `${count}.`),
    )
    const large = await starting()
    const send = () => large.socket.receives({ type: 'text', token: 'a'.repeat(60_000), last: true })
    for (let count = 0; count < 4; count++) send()
    expect(large.socket.of('error')).toEqual([])
    send()
    expect(large.socket.of('error')).toMatchObject([{ description: expect.stringContaining('too many') }])
    large.started.resolve()
    expect((await large.result).end).toMatchObject({ status: 'failed', code: '64107' })
  })

  it('ends with the data of the server, after its last words', async () => {
    const { socket, agent, result, context } = await begin()
    const spoken = Promise.withResolvers<void>()
    agent.heard = spoken.promise
    socket.receives({ type: 'text', token: 'Goodbye.', last: true })
    context.time += 4000
    socket.receives({ type: 'end', handoffData: 'x' })
    await settle()
    expect(agent.names).not.toContain('stop')
    spoken.resolve()
    expect(await result).toEqual({
      id: expect.any(String),
      end: { status: 'ended', handoffData: 'x' },
      durationMs: 4000,
    })
    expect([agent.names.at(-1), socket.isClosed]).toEqual(['stop', true])
  })

  it.each([
    ['{"foo":"bar"}', 'type'],
    [undefined, 'a text message'],
  ])('ends after the message %s', async (text, reason) => {
    const { socket, agent, result, warnings } = await begin()
    agent.heard = new Promise(() => {})
    socket.receives({ type: 'text', token: 'Never heard to its end.' })
    socket.listener.onMessage(text)
    expect(await result).toMatchObject({ end: { status: 'failed', code: '64107' } })
    expect(socket.of('error')).toMatchObject([{ description: expect.stringContaining(reason) }])
    expect(agent.names.slice(-2)).toEqual(['cut', 'stop'])
    expect(warnings).toEqual([expect.stringContaining(`64107 Invalid message: ${reason}`)])
  })

  it.each([
    ['closed', '64105'],
    ['lost', '64105'],
    ['slow', '64105'],
    ['too-large', '64107'],
  ] as const)('ends with its connection: %s', async (kind, code) => {
    const { socket, result, agent } = await begin()
    socket.listener.onEnd({ kind, reason: 'why' })
    expect(await result).toMatchObject({
      end: { status: 'failed', code, reason: 'The connection to the server ended: why.' },
    })
    expect(agent.names).toContain('stop')
  })

  it('does not start an agent without a connection', async () => {
    const call = new FakeCall()
    const context = new FakeContext()
    context.connects = false
    const session = new RelaySession(options, { call, context, setup: {}, warn: () => {} })
    expect(await session.run()).toMatchObject({ end: { status: 'failed', code: '64102' } })
    expect(call.names).toEqual([])
  })

  it('fails if no agent can start, which the server learns', async () => {
    const call = new FakeCall()
    call.failing.set('startAgent', new VerbFailed('agents_unavailable', 'No engine.'))
    const { socket, result } = await begin({}, call)
    expect(await result).toMatchObject({ end: { status: 'failed', code: 'agents_unavailable' } })
    expect(socket.of('error')).toEqual([{ type: 'error', description: 'No engine.' }])
    expect(socket.isClosed).toBe(true)
  })

  it.each([
    [{ kind: 'hangup' }, { status: 'completed' }],
    [{ kind: 'stopped' }, { status: 'ended' }],
    [{ kind: 'inactive' }, { status: 'failed', code: 'inactive' }],
    [{ kind: 'limit' }, { status: 'failed', code: 'limit' }],
    [
      { kind: 'failed', code: 'connection', reason: 'r' },
      { status: 'failed', code: 'connection' },
    ],
  ] as const)('ends with the conversation: %j', async (end, expected) => {
    const { agent, result, socket } = await begin()
    agent.end(end)
    expect((await result).end).toMatchObject(expected)
    expect(socket.isClosed).toBe(true)
  })

  it('ends with the call, also before the server is connected', async () => {
    const call = new FakeCall()
    const context = new FakeContext()
    const opened = Promise.withResolvers<void>()
    const openSocket: FakeContext['openSocket'] = (request, listener) => {
      const socket = context.openSocket(request, { ...listener, onOpen: () => {} })
      opened.resolve()
      return socket
    }
    const host = { call, context: { openSocket, now: () => 0 }, setup: {}, warn: () => {} }
    const result = new RelaySession(options, host).run()
    await opened.promise
    call.end()
    expect((await result).end).toEqual({ status: 'completed' })
    expect(context.sockets[0]?.isClosed).toBe(true)
  })

  it('reports delays of the server only for debugging', async () => {
    const { socket } = await begin({ reports: new Set(['debugging']) })
    socket.listener.onRoundTrip(12.4)
    expect(socket.of('info')).toEqual([{ type: 'info', name: 'roundTripDelayMs', value: 12 }])
    const quiet = await begin()
    quiet.socket.listener.onRoundTrip(12)
    expect(quiet.socket.of('info')).toEqual([])
  })
})
