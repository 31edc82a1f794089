import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import type { MediaPort } from '../../media/types.ts'
import { closeAll, make, serve } from '../callbacks/testing/customer-servers.ts'
import { FakeClock } from '../core/clock.ts'
import { noise } from '../stand-ins/testing/caller-audio.ts'
import { answer, engineHz, WiredCall, type WiredEngine } from './testing/wired-call.ts'

/**
 * Faults of engines, customers' servers and calls. Each has a defined end. The caller hears an answer within
 * 5 s after the end of the turn, or the script goes on within 15 s.
 */

let call: WiredCall | undefined

afterEach(async () => {
  await call?.close()
  call = undefined
  await closeAll()
})

/** Names of the stand-ins that have the faults, by engine. */
const parts = { pipeline: 'chat', 'openai-realtime': 'realtime' } as const

/** Engine of the table. */
type Of = keyof typeof parts

/** Time from the end of the voice to the end of the turn, with the first packets of the answer, in ms. */
const turnMs = 700

/**
 * End of a fault. `answer`: the caller hears one. `listens`: the answer is over, and the agent listens.
 * `apology`: the caller hears one, and the script goes on with the result `failed`.
 */
interface End {
  readonly end: 'answer' | 'listens' | 'apology'
  /** Longest silence for the caller, without the time of the turn's end, in ms. */
  readonly silenceMs: number
  /** Metric: label `failure` of `trunkline_agent_engine_failures_total`, with its number. */
  readonly failures: string
  /** Log: events of agents besides `agent.started` and `agent.ended`. */
  readonly log: readonly string[]
}

const heard = (silenceMs: number, failures = ''): End => ({
  end: 'answer',
  silenceMs,
  failures,
  log: failures === '' ? [] : ['agent.engine-failed'],
})
const over = (silenceMs: number, failures: string): End => ({
  end: 'apology',
  silenceMs,
  failures,
  log: ['agent.engine-failed', 'agent.failed'],
})
const listens = (failures = ''): End => ({ ...heard(0, failures), end: 'listens' })

/** Turn of the caller that meets the fault. */
const turn = { contains: ['please'] }
const spoken = 'This is the first part of an answer. The second part of it never comes, whatever happens.'
/** First second of an answer; a language model writes its first sentence. */
const begun = (of: Of) =>
  of === 'pipeline'
    ? { say: { text: spoken, cut: 3600 } }
    : { tone: { hz: engineHz, ms: 4000, text: spoken, cut: 1000 } }
const halfCall = { call: { name: 'book', arguments: { guests: 12_345_678 }, cut: true } }
const long = { tone: { hz: engineHz, ms: 6000, text: 'y'.repeat(100) } }

const connecting = (what: object) => (of: Of) => [{ when: { on: 'connect', engine: parts[of] }, do: [what] }]
const answering =
  (...actions: readonly object[]) =>
  () => [{ when: turn, do: actions }]
const once = (rules: (of: Of) => readonly object[]) => (of: Of) =>
  rules(of).map((rule) => ({ ...rule, times: 1 }))
const inAnswer = (what: object) => (of: Of) => [{ when: turn, do: [begun(of), what] }]

type Row = readonly [fault: string, rules: (of: Of) => readonly object[], pipeline: End, realtime?: End]

/** Faults that last: no engine is left in the end. */
const lasting: readonly Row[] = [
  ['refuses the key', connecting({ error: 'unauthorised' }), over(0, 'unauthorised 1')],
  ['has too many requests', connecting({ error: 'limited' }), over(2500, 'limited 2'), over(0, 'limited 2')],
  ['has a fault of its own', connecting({ error: 'server' }), over(0, 'server 2')],
  ['closes at once', connecting({ close: 'abrupt' }), over(0, 'connection 2')],
  ['accepts, and never replies', connecting({ quirk: 'half-open' }), over(10_000, 'timeout 2')],
  [
    'has too many requests for each answer',
    () => [turn, 'begin'].map((when) => ({ when, do: [{ error: 'limited' }] })),
    over(2500, 'limited 2'),
    over(0, 'limited 2'),
  ],
  ['closes in mid-function', answering(halfCall, { close: 'abrupt' }), over(0, 'connection 2')],
  ['never answers', answering({ stall: true }), over(10_000, 'timeout 2')],
]

/** Faults after which the conversation goes on. */
const passing: readonly Row[] = [
  ['closes in mid-answer, once', once(inAnswer({ close: 'abrupt' })), heard(0), heard(0, 'connection 1')],
  [
    'closes in mid-function, once',
    once(answering(halfCall, { close: 'abrupt' })),
    heard(0),
    heard(0, 'connection 1'),
  ],
  ['does not answer, once', once(answering({ stall: true })), heard(5000, 'timeout 1')],
  ['stops sending in mid-answer', inAnswer({ stall: true }), heard(5000), listens('timeout 1')],
  ['sends 20 times faster than real time', answering(long), heard(0)],
  ['sends at half of real time', answering({ tone: { ...long.tone, ms: 3000, pace: 0.5 } }), heard(0)],
  ['sends a message that cannot be read, once', once(answering({ quirk: 'malformed' }, answer())), heard(0)],
  [
    'sends 10 MiB in one message, once',
    once(answering({ quirk: 'huge' }, answer())),
    heard(0),
    heard(0, 'protocol 1'),
  ],
  ['sends unknown events', answering({ quirk: 'unknown' }, answer()), heard(0)],
  ['answers twice', answering({ quirk: 'twice' }, answer('A second.', 1000)), heard(0)],
]

const named = (rows: readonly Row[]) => rows.map((row) => [row[0], row] as const)

/** Opens a call, and lets the caller ask for the answer that has the fault. */
const ask = async (engine: WiredEngine, rules: readonly object[], more: object = {}): Promise<WiredCall> => {
  // A session that is opened again is asked to go on.
  const again = { when: 'begin', do: [answer('I am back.')] }
  call = await WiredCall.open({ engine, rules: [...rules, again], ...more })
  if (!call.tap.isClosed) call.says('Do that, please.')
  await call.passes(800)
  return call
}

/** Longest silence from a frame on, in ms. */
const longestSilence = ({ tap }: WiredCall, from: number): number => {
  const loud = [from, ...tap.sounds(from)]
  return 20 * Math.max(0, ...loud.slice(1).map((at, index) => at - loud[index]!))
}

const failuresOf = async (of: WiredCall): Promise<string> => {
  const counts = (await of.counts('agentEngineFailures')).map((line) => /failure=(\w+): (\d+)/.exec(line))
  return counts.map((found) => `${found?.[1]} ${found?.[2]}`).join(', ')
}

const check = async (of: WiredCall, from: number, { end, silenceMs, failures, log }: End): Promise<void> => {
  expect(longestSilence(of, from)).toBeLessThanOrEqual(silenceMs + turnMs)
  expect([...new Set(of.faults)]).toEqual(log)
  expect(await failuresOf(of)).toBe(failures)
  if (end === 'apology') {
    expect([of.result, of.running]).toEqual(['failed', 0])
    expect(await of.counts('agentsEnded')).toEqual(['end=failed: 1'])
    return
  }
  // No call is in limbo: the next turn has an answer.
  of.says('And what else is there?')
  await of.passes(800)
  expect(await of.hears('the next answer', 6000)).toBeLessThan(5000 + turnMs)
  await of.isSilent('the end of the next answer')
  of.hangUp()
  await of.until('the script ends', () => of.isOver, 100)
  expect(of.clock.running).toBe(0)
}

describe.each<Of>(['pipeline', 'openai-realtime'])('an engine %s', (engine) => {
  const endOf = ([, , pipeline, realtime = pipeline]: Row) => (engine === 'pipeline' ? pipeline : realtime)

  it.each(named(lasting))('that %s ends the conversation, and the script goes on', async (_, row) => {
    const of = await ask(engine, [...row[1](engine), { when: 'begin', do: [{ stall: true }] }])
    const from = of.tap.played.length
    const ms = await of.until('the script goes on', () => of.isOver)
    expect(ms).toBeLessThan(15_000)
    await check(of, from, endOf(row))
  })

  it.each(named(passing))('that %s does not end the conversation', async (_, row) => {
    const of = await ask(engine, row[1](engine))
    const from = of.tap.played.length
    await of.until('an answer', () => of.tap.sounds(from).length > 40)
    await of.isSilent('the end of the answer')
    if (endOf(row).end === 'listens') await of.passes(5000)
    await check(of, from, endOf(row))
  })

  it('that never replies is replaced by the engine of `fallback` within 5 s', async () => {
    const fallback = engine === 'pipeline' ? 'openai-realtime' : 'pipeline'
    const params = { wait_for_user: false, static_greeting: 'Good morning.' }
    const rules = connecting({ quirk: 'half-open' })(engine)
    call = await WiredCall.open({ engine, fallback, rules, params, ai: {} })
    if (engine === 'pipeline') call.says('Do that, please.')
    expect(await call.hears('the other engine')).toBeLessThan(engine === 'pipeline' ? 7000 : 5200)
  })
})

/** Engines that decide about turns, besides the one of the table. */
describe.each<[WiredEngine, string]>([
  ['openai-live', 'live'],
  ['gemini-live', 'gemini'],
  ['deepgram-agent', 'deepgram-agent'],
  ['elevenlabs-agent', 'elevenlabs-agent'],
  ['ultravox', 'ultravox'],
])('an engine %s', (engine, name) => {
  it('that refuses the key ends the conversation, and the script goes on', async () => {
    const rules = [{ when: { on: 'connect', engine: name }, do: [{ error: 'unauthorised' }] }]
    call = await WiredCall.open({ engine, rules })
    await call.until('the script goes on', () => call!.isOver, 15_000)
    expect([call.result, await failuresOf(call)]).toEqual(['failed', 'unauthorised 1'])
  })

  it('hears a caller who speaks for long', async () => {
    call = await WiredCall.open({ engine })
    call.says('I have a long story to tell, which takes its time.', 12_000)
    await call.passes(12_000)
    await call.hears('the answer', 1000)
    expect(call.faults).toEqual([])
  })

  it('that does not answer, once, does not end the conversation', async () => {
    const params = { attention_timeout: 5000 }
    const of = await ask(engine, once(answering({ stall: true }))(0 as never), { params })
    await of.until('the session is opened again', () => of.faults.length > 0, 14_000)
    // The stand-in of Live has another voice for what it is asked to say, which takes real time.
    if (engine !== 'openai-live') await of.hears('an answer', 500)
    expect(await failuresOf(of)).toBe('timeout 1')
  })
})

/** Replies of a customer's server, by fault. */
const replies: readonly (readonly [fault: string, reply: (response: ServerResponse) => void])[] = [
  ['answers 500', (response) => response.writeHead(500).end('no')],
  ['answers no JSON', (response) => response.end('<html>')],
  ['answers too much', (response) => response.end(JSON.stringify({ response: 'x'.repeat(400_000) }))],
  ['redirects for ever', (response) => response.writeHead(307, { location: '/swaig' }).end()],
  [
    'redirects into a private network',
    (response) => response.writeHead(307, { location: 'http://10.1.2.3/' }).end(),
  ],
  ['closes the connection', (response) => void response.destroy()],
]

describe.each<Of>(['pipeline', 'openai-realtime'])('a function at an engine %s', (engine) => {
  it.each(replies)('whose server %s is a text for the model, within 5 s', async (_, reply) => {
    const server = await serve((_request, response) => reply(response))
    const of = await askFor(engine, `${server.url}/swaig`)
    const ms = await of.hears('the answer to the result', 8000)
    expect(ms).toBeLessThan(5000 + 2 * turnMs)
    expect(resultsOf(of)).toEqual(['The function failed. Tell the caller that this is not possible now.'])
    // The log has the reason, as a fault of the document; the engine is not at fault.
    expect(of.context.warnings.map(({ code }) => code)).toEqual(['relay_script_agent_fault'])
    expect([of.faults, await failuresOf(of)]).toEqual([[], ''])
    const asked = server.seen.length
    await of.isSilent('the end of the answer')
    expect(server.seen).toHaveLength(asked)
  })

  it('whose server is too slow is a text for the model after `agents.limits.functionTimeout`', async () => {
    const server = await serve(() => {})
    const of = await askFor(engine, `${server.url}/swaig`)
    const ms = await of.hears('the answer to the result', 8000)
    expect(ms).toBeGreaterThanOrEqual(4000)
    expect(ms).toBeLessThan(4000 + 2 * turnMs)
    expect(resultsOf(of)).toEqual(['The function did not answer in time.'])
    expect([of.faults, server.seen.length]).toEqual([[], 1])
  })

  it('whose server is gone is a text for the model', async () => {
    const of = await askFor(engine, 'http://127.0.0.1:9/swaig')
    expect(await of.hears('the answer to the result')).toBeLessThan(2 * turnMs)
    expect(resultsOf(of)).toEqual(['The function failed. Tell the caller that this is not possible now.'])
  })

  it.each<[string, object, string[], number]>([
    [
      'with broken arguments does not run',
      { arguments: '{"guests": ' },
      ['The arguments are not a JSON object. Call the function again.'],
      0,
    ],
    ['that is called twice runs once', { arguments: { guests: 2 } }, ['Booked.'], 1],
  ])('%s', async (name, args, results, count) => {
    const server = await serve((_request, response) => response.end('{"response":"Booked."}'))
    const twice = name.includes('twice') ? [{ quirk: 'twice' }] : []
    const of = await askFor(engine, `${server.url}/swaig`, [...twice, { call: { name: 'book', ...args } }])
    await of.hears('the answer to the result')
    expect([...new Set(resultsOf(of))]).toEqual(results)
    expect(server.seen).toHaveLength(count)
  })
})

/** States of a conversation, and the ways into them after a question of the caller. */
const states: readonly (readonly [state: string, reach: (of: WiredCall) => Promise<unknown>])[] = [
  [
    'the caller speaks',
    (of) => {
      of.says('And then', 1000)
      return of.passes(400)
    },
  ],
  ['the answer is awaited', async () => {}],
  ['the agent speaks', (of) => of.hears('the answer')],
  [
    'the agent is faded',
    async (of) => {
      await of.hears('the answer')
      of.says('Mm', 400)
      await of.passes(200)
    },
  ],
  ['the agent listens', (of) => of.hears('the answer').then(() => of.isSilent('its end'))],
  [
    'the agent is on hold',
    (of) => {
      of.commands?.hold(60)
      return of.passes(100)
    },
  ],
  ['the agent leaves', (of) => of.hears('the answer').then(() => of.commands?.stop())],
]

describe.each<Of>(['pipeline', 'openai-realtime'])('a call to an agent of the engine %s', (engine) => {
  it.each(states)('that ends while %s leaves nothing', async (_, reach) => {
    const of = await ask(engine, [], { ai: { post_prompt_url: 'http://x.example/report' } })
    await reach(of)
    of.hangUp()
    await of.until('the script ends', () => of.isOver, 100)
    expect(await of.counts('agentsEnded')).toEqual(['end=hangup: 1'])
    expect([of.running, of.tap.isClosed, of.faults]).toEqual([0, true, []])
    await of.passes(200)
    const { callbacks } = of.context
    expect(callbacks.map(({ kind }) => kind)).toEqual(['agent-report'])
    expect(JSON.parse(callbacks[0]?.body?.text ?? '')).toMatchObject({ call_ended_by: 'caller' })
    expect(of.clock.running).toBe(0)
  })

  it('whose media end leaves nothing', async () => {
    const of = await ask(engine, [])
    await of.hears('the answer')
    of.tap.dies()
    await of.passes(100)
    expect([of.running, await of.counts('agentsEnded')]).toEqual([0, ['end=hangup: 1']])
  })

  it('that is held after its last words hears nothing, and goes on by itself after the hold', async () => {
    const of = await ask(engine, [])
    await of.hears('the answer')
    of.commands?.hold(5)
    await of.isSilent('the end of the answer')
    const from = of.tap.played.length
    of.makes(noise(800, of.tap.rate))
    await of.passes(4000)
    expect(of.tap.sounds(from)).toEqual([])
    await of.passes(1500)
    of.says('And what now?')
    await of.passes(800)
    expect(await of.hears('the next answer')).toBeLessThan(2 * turnMs)
    expect(of.faults).toEqual([])
  })

  it('whose leg is replaced goes on with the other one', async () => {
    const of = await ask(engine, [])
    await of.hears('the answer')
    of.agent?.moveTo({ id: 'other' } as MediaPort)
    await of.isSilent('the end of the answer')
    expect(of.tap.sounds()).toHaveLength(of.tap.sounds().at(-1)! - of.tap.sounds()[0]! + 1)
    expect([of.tap.commands, of.faults]).toEqual([['moveTo other'], []])
  })
})

/** Lets the caller ask for something that calls a function at a URL. */
const askFor = (
  engine: Of,
  url: string,
  actions: readonly object[] = [{ call: { name: 'book', arguments: {} } }],
) => {
  const parameters = { type: 'object', properties: { guests: { type: 'integer' } } }
  const functions = [{ function: 'book', description: 'Books.', parameters, web_hook_url: url }]
  const rules = [
    { when: turn, do: actions },
    { when: { on: 'result' }, do: [answer('It is not possible.')] },
  ]
  const clock = new FakeClock()
  return ask(engine, rules, { clock, http: make({ clock }), ai: { SWAIG: { functions } } })
}

/** Results that the model received. */
const resultsOf = (of: WiredCall): readonly string[] => {
  const outputs = of.received('conversation.item.create') as readonly {
    readonly item: { readonly type: string; readonly output?: string }
  }[]
  return [...of.asked('tool'), ...outputs.flatMap(({ item }) => item.output ?? [])]
}
