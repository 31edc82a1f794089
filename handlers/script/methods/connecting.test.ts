import { afterAll, describe, expect, it } from 'vitest'
import { FakeCall, testCallee } from '../../testing/fake-call.ts'
import { FakeContext } from '../../testing/fake-context.ts'
import { eventsOf, faultsOf, type On, TestScripts } from '../../testing/test-scripts.ts'
import type { CalleeState, ConnectOptions } from '../../verbs.ts'
import { CallEnded, VerbFailed } from '../../verbs.ts'

const scripts = new TestScripts()
afterAll(() => scripts.close())

const receiver = 'https://app.example/events'

/** Returns the options of `connect`. */
const optionsOf = async (connect: object, on: On = {}) =>
  (await scripts.run([{ connect }], on)).verbs.find(([name]) => name === 'connect')?.[1] as ConnectOptions

describe('connect', () => {
  it('calls one destination with headers, decoded once, and credentials', async () => {
    const connect = {
      to: 'sip:100@carrier.example;transport=tcp',
      from: '+15551234',
      from_name: 'Bob',
      headers: [{ name: 'x-id', value: '%2B1%2525 %{call.headers[0].value}' }],
      username: 'u',
      password: 'p',
      timeout: 20,
      max_duration: 600,
      answer_on_bridge: 'true',
      ringback: ['ring:uk'],
    }
    expect(await optionsOf(connect)).toEqual({
      steps: [
        [
          {
            to: 'sip:100@carrier.example;transport=tcp',
            from: '+15551234',
            fromName: 'Bob',
            headers: [{ name: 'x-id', value: '+1%25 %2B42' }],
            username: 'u',
            password: 'p',
          },
        ],
      ],
      timeoutMs: 20_000,
      maxDurationMs: 600_000,
      answerOnBridge: true,
      ringback: [{ kind: 'ringtone', country: 'uk' }],
    })
  })

  it.each([
    ['serial', [{ to: '/public/a' }, { to: '+1 555' }], [[{ to: '/public/a' }], [{ to: '+1555' }]]],
    ['parallel', [{ to: '/public/a' }, { to: '+1' }], [[{ to: '/public/a' }, { to: '+1' }]]],
    [
      'serial_parallel',
      [[{ to: '+1' }, { to: '+2' }], [{ to: '+3' }]],
      [[{ to: '+1' }, { to: '+2' }], [{ to: '+3' }]],
    ],
  ])('arranges %s', async (name, destinations, steps) => {
    expect(await optionsOf({ [name]: destinations })).toEqual({ steps, answerOnBridge: false })
  })

  it('lets a destination override the values of the method', async () => {
    const connect = {
      from: '+1',
      timeout: 30,
      encryption: 'mandatory',
      session_timeout: 600,
      codecs: 'OPUS, PCMU',
      serial: [
        { to: '+2' },
        {
          to: '+3',
          from: '+4',
          timeout: 5,
          encryption: 'forbidden',
          session_timeout: '90',
          codecs: 'G722,G729',
        },
      ],
    }
    const options = await optionsOf(connect)
    expect(options.timeoutMs).toBe(30_000)
    expect(options.steps).toEqual([
      [{ to: '+2', from: '+1', encryption: 'mandatory', sessionTimerSeconds: 600, codecs: ['opus', 'PCMU'] }],
      [
        {
          to: '+3',
          from: '+4',
          timeoutMs: 5000,
          encryption: 'forbidden',
          sessionTimerSeconds: 90,
          codecs: ['G722'],
        },
      ],
    ])
  })

  it('takes all numbers from variables, and checks them', async () => {
    const set = { set: { long: 99_999, word: 'soon' } }
    for (const name of ['timeout', 'max_duration', 'confirm_timeout', 'session_timeout']) {
      for (const value of ['%{long}', '%{word}']) {
        const connect = { to: '+1', [name]: value }
        expect((await scripts.run([set, { connect }])).warnings).toEqual([
          '/sections/main/1/connect method_parameter_invalid_value',
        ])
      }
    }
  })

  it.each([
    ['a destination', { to: '%{call.from_name}' }],
    [
      'a header with a line break',
      { to: '+1', headers: [{ name: 'x-a', value: '%{call.headers[1].value}' }] },
    ],
    ['a header of the gateway', { to: '+1', headers: [{ name: '%{call.headers[1].name}', value: 'a' }] }],
    ['a caller id with a line break', { to: '+1', from: '%{call.headers[1].value}' }],
    ['a truth', { to: '+1', answer_on_bridge: '%{call.from}' }],
    ['an encryption', { to: '+1', encryption: '%{call.from}' }],
  ])('fails and continues if a variable yields no %s', async (_what, connect) => {
    const headers = [
      { name: 'X-A', value: '1' },
      { name: 'Via', value: 'a\r\nb' },
    ]
    const { names, warnings } = await scripts.run([{ connect }, { sleep: 1 }], {
      call: new FakeCall({ headers }),
    })
    expect(names).toEqual(['sleep'])
    expect(warnings).toEqual(['/sections/main/0/connect method_parameter_invalid_value'])
  })

  it('rejects invalid destinations, and too many of them', () => {
    const many = Array.from({ length: 11 }, () => ({ to: '+1' }))
    expect(faultsOf([{ connect: { to: 'x y' } }])).toEqual(['/0/connect/to method_parameter_invalid_value'])
    expect(faultsOf([{ connect: { parallel: many } }])).toEqual([
      '/0/connect/parallel method_parameter_invalid_value',
    ])
    expect(faultsOf([{ connect: { to: '+1', serial: [{ to: '+1' }] } }])).toEqual([
      '/0/connect method_parameter_conflict',
    ])
    expect(faultsOf([{ connect: { serial: [{ to: '+1', encryption: 'some' }] } }])).toEqual([
      '/0/connect/serial/0/encryption method_parameter_invalid_value',
    ])
    expect(faultsOf([{ connect: { to: '+1', session_timeout: 10 } }])).toEqual([
      '/0/connect/session_timeout method_parameter_invalid_value',
    ])
  })

  it('warns of webrtc_media, which has no effect', async () => {
    const { warnings } = await scripts.run([{ connect: { serial: [{ to: '+1', webrtc_media: true }] } }])
    expect(warnings).toEqual(['/sections/main/0/connect/serial/0/webrtc_media method_parameter_undefined'])
  })
})

describe('the step after connect', () => {
  const result = '%{connect_result}/%{connect_failed_reason}/%{return_value}'

  it('is the next one if the callee hung up or no callee answered', async () => {
    const call = new FakeCall()
    call.connects.push({ kind: 'failed', reason: 'no-answer', code: 'no_answer' })
    expect(await scripts.say(result, [{ connect: { to: '+1' } }], { call })).toBe('failed/no_answer/failed')
    expect(await scripts.say(result, [{ connect: { to: '+1' } }])).toBe('connected//connected')
    const failing = new FakeCall()
    failing.failing.set('connect', new VerbFailed('too_many_legs', 'no'))
    expect(await scripts.say(result, [{ connect: { to: '+1' } }], { call: failing })).toBe(
      'failed/error/failed',
    )
  })

  it('is none if the caller hung up', async () => {
    const call = new FakeCall()
    call.connects.push({ kind: 'connected', endedBy: 'caller', durationMs: 1, callee: testCallee })
    expect((await scripts.run([{ connect: { to: '+1' } }, 'answer'], { call })).names).toEqual(['connect'])
  })

  it('is the branch of result, chosen by value or by conditions', async () => {
    const failed = () => {
      const call = new FakeCall()
      call.connects.push({ kind: 'failed', reason: 'busy', code: 'busy' })
      return call
    }
    const byValue = { case: { connected: [{ sleep: 1 }], failed: [{ sleep: 2 }] }, default: [{ sleep: 3 }] }
    const run = (result: unknown, call: FakeCall) =>
      scripts.run([{ connect: { to: '+1', result } }], { call })
    expect((await run(byValue, new FakeCall())).verbs.at(-1)).toEqual(['sleep', 1])
    expect((await run(byValue, failed())).verbs.at(-1)).toEqual(['sleep', 2])
    const byReason = {
      variable: 'connect_failed_reason',
      case: { busy: [{ sleep: 4 }] },
      default: [{ sleep: 5 }],
    }
    expect((await run(byReason, failed())).verbs.at(-1)).toEqual(['sleep', 4])
    const byCondition = [
      // biome-ignore lint/suspicious/noThenProperty: it is the language's name
      { when: "connect_result == 'failed' && connect_failed_reason == 'busy'", then: [{ sleep: 6 }] },
      { else: [{ sleep: 7 }] },
    ]
    expect((await run(byCondition, failed())).verbs.at(-1)).toEqual(['sleep', 6])
    expect((await run(byCondition, new FakeCall())).verbs.at(-1)).toEqual(['sleep', 7])
  })
})

describe('confirm', () => {
  /** Connects, and runs the confirmation of the first destination on a callee. */
  const confirmed = async (connect: object, callee: FakeCall, on: On = {}) => {
    const call = on.call ?? new FakeCall()
    const context = on.context ?? new FakeContext()
    let outcome = 'taken'
    call.during.set('connect', async ({ steps }: ConnectOptions) => {
      await steps[0]?.[0]?.confirm?.(callee).catch((error: unknown) => {
        outcome = error instanceof CallEnded ? 'ended' : 'refused'
      })
    })
    await scripts.run([{ set: { who: 'Ann' } }, { connect }, { sleep: 1 }], { ...on, call, context })
    return { outcome, context, call }
  }
  const calleeOf = () => new FakeCall({ callId: 'c-2', direction: 'outbound', from: '+1', to: '+2' })

  it('runs steps on the callee leg, with the variables of the call and its parent', async () => {
    const confirm = [
      { prompt: { play: 'say:%{who} for you, %{call.parent.call_id}' } },
      // biome-ignore lint/suspicious/noThenProperty: it is the language's name
      { cond: [{ when: "prompt_value != '1'", then: ['hangup'] }] },
    ]
    const callee = calleeOf()
    callee.collects.push({ reason: 'complete', digits: '1' })
    const { outcome, call } = await confirmed({ to: '+2', confirm, confirm_timeout: 9 }, callee)
    expect(outcome).toBe('taken')
    expect(callee.verbs[0]?.[1]).toMatchObject({ prompt: { sounds: [{ text: 'Ann for you, c-1' }] } })
    expect(call.verbs[0]?.[1]).toMatchObject({ confirmTimeoutMs: 9000 })
    const other = calleeOf()
    expect((await confirmed({ to: '+2', confirm }, other)).outcome).toBe('ended')
    expect(other.names).toEqual(['collect', 'hangup'])
  })

  it('runs the script at a URL, requested with the callee and the variables', async () => {
    const url = 'https://app.example/confirm'
    const context = new FakeContext({ [url]: '{"sections":{"main":[{"play":{"url":"say:Call"}}]}}' })
    const callee = calleeOf()
    const { outcome } = await confirmed({ serial: [{ to: '+2', confirm: url }] }, callee, { context })
    expect([outcome, callee.names]).toEqual(['taken', ['play']])
    expect(JSON.parse(context.requests[0]?.body?.text ?? '')).toMatchObject({
      call: {
        call_id: 'c-2',
        direction: 'outbound',
        parent: { call_id: 'c-1', device_type: 'sip', node_id: 'n-1' },
      },
      vars: { who: 'Ann' },
    })
  })

  it('rejects the callee if the script cannot be fetched, or uses a method not allowed there', async () => {
    const url = 'https://app.example/confirm'
    const documentsOf: Record<string, string>[] = [
      {},
      { [url]: '{"sections":{"main":[{"connect":{"to":"+1"}}]}}' },
    ]
    for (const documents of documentsOf) {
      const context = new FakeContext(documents)
      const callee = calleeOf()
      const { outcome, call } = await confirmed({ to: '+2', confirm: url }, callee, { context })
      expect([outcome, callee.names, call.names]).toEqual(['refused', [], ['connect', 'sleep']])
      expect(context.warnings.length).toBeGreaterThan(0)
    }
    const confirm = ['answer', { goto: { label: 'a' } }]
    expect(faultsOf([{ label: 'a' }, { connect: { to: '+1', confirm } }])).toEqual([
      '/1/connect/confirm/0 method_undefined',
      '/1/connect/confirm/1/goto method_undefined',
    ])
  })

  it('times out after the confirm_timeout of its destination', async () => {
    const callee = calleeOf()
    callee.collect = () => new Promise(() => {})
    const serial = [
      { to: '+2', confirm: [{ prompt: { play: 'say:Press one.' } }], confirm_timeout: 5 },
      { to: '+3', confirm_timeout: 90 },
    ]
    const { outcome, call } = await confirmed({ serial, confirm_timeout: 20 }, callee)
    expect([outcome, callee.verbs]).toEqual(['refused', [['sleep', 5000]]])
    expect(call.verbs[0]?.[1]).toMatchObject({ confirmTimeoutMs: 90_000 })
  })

  it('sets variables of its own leg only', async () => {
    const callee = calleeOf()
    const { call } = await confirmed({ to: '+2', confirm: [{ set: { who: 'Bob' } }] }, callee)
    expect(call.names).toEqual(['connect', 'sleep'])
    const caller = new FakeCall()
    caller.during.set('connect', ({ steps }: ConnectOptions) => steps[0]?.[0]?.confirm?.(calleeOf()))
    const steps = [{ set: { who: 'Ann' } }, { connect: { to: '+2', confirm: [{ set: { who: 'Bob' } }] } }]
    expect(await scripts.say('%{who}', steps, { call: caller })).toBe('Ann')
  })
})

describe('the events of connect', () => {
  it('are calling.call.connect at status_url', async () => {
    const call = new FakeCall()
    call.during.set('connect', ({ onConnected }: ConnectOptions) =>
      onConnected?.({ callee: testCallee, hangup: () => {}, sendDigits: async () => {} }),
    )
    const { context } = await scripts.run([{ connect: { to: '+1', status_url: receiver } }], { call })
    const device = { type: 'sip', params: { from: '+15550001', to: 'sip:+15550003@carrier.example' } }
    const peer = { call_id: 'c-2', node_id: 'n-1', device }
    const event = { to: `POST ${receiver}`, event_type: 'calling.call.connect' }
    expect(eventsOf(context)).toEqual([
      { ...event, connect_state: 'connecting' },
      { ...event, connect_state: 'connected', peer },
      { ...event, connect_state: 'disconnected', peer },
    ])
  })

  it('include the reason of a failure, also if the caller hung up first', async () => {
    const failed = new FakeCall()
    failed.connects.push({ kind: 'failed', reason: 'declined', code: 'declined' })
    const steps = [{ connect: { to: '+1', status_url: receiver } }]
    const { context } = await scripts.run(steps, { call: failed })
    expect(eventsOf(context).at(-1)).toMatchObject({ connect_state: 'failed', failed_reason: 'declined' })
    const ended = new FakeCall()
    ended.endsDuring = 'connect'
    const gone = await scripts.run(steps, { call: ended })
    expect(eventsOf(gone.context).at(-1)).toMatchObject({ connect_state: 'failed', failed_reason: 'cancel' })
  })

  const all: readonly CalleeState[] = [
    { kind: 'initiated', callee: { ...testCallee, to: '+15550003' } },
    { kind: 'ringing', callee: testCallee },
    { kind: 'answered', callee: testCallee },
    { kind: 'ended', callee: testCallee, outcome: 'no-answer', durationMs: 0, code: 'no_answer' },
  ]
  const statesSent = async (connect: object) => {
    const call = new FakeCall()
    call.during.set('connect', ({ steps }: ConnectOptions) => {
      for (const state of all) steps[0]?.[0]?.onState?.(state)
    })
    return eventsOf((await scripts.run([{ connect }], { call })).context)
  }

  it('are the end of the callee leg at call_state_url', async () => {
    expect(await statesSent({ to: '+1', call_state_url: receiver })).toEqual([
      {
        to: `POST ${receiver}`,
        event_type: 'calling.call.state',
        call_state: 'ended',
        direction: 'outbound',
        device: { type: 'sip', params: { from: '+15550001', to: 'sip:+15550003@carrier.example' } },
        end_reason: 'no_answer',
      },
    ])
  })

  it('are the states that call_state_events names, of one destination or of all', async () => {
    const call_state_events = ['created', 'ringing', 'answered', 'ended']
    const events = await statesSent({ call_state_url: receiver, call_state_events, serial: [{ to: '+1' }] })
    expect(events.map(({ call_state }) => call_state)).toEqual(call_state_events)
    expect(events[0]?.device).toEqual({
      type: 'phone',
      params: { from_number: '+15550001', to_number: '+15550003' },
    })
    const own = await statesSent({
      serial: [{ to: '+1', call_state_url: receiver, call_state_events: ['ringing'] }],
    })
    expect(own.map(({ call_state }) => call_state)).toEqual(['ringing'])
    expect(faultsOf([{ connect: { to: '+1', call_state_events: ['bored'] } }])).toEqual([
      '/0/connect/call_state_events/0 method_parameter_invalid_value',
    ])
  })
})

describe('a destination that is a queue', () => {
  it('requires transfer_after_bridge, which runs after the bridge', async () => {
    const { warnings, names } = await scripts.run([{ connect: { to: 'queue:sales' } }])
    expect([warnings, names]).toEqual([['/sections/main/0/connect method_parameter_invalid_value'], []])
    const connect = { to: 'queue:sales', transfer_after_bridge: 'after' }
    const { verbs } = await scripts.run([{ connect }, { sleep: 1 }], { sections: { after: [{ sleep: 2 }] } })
    expect(verbs).toMatchObject([
      ['connect', { steps: [[{ to: 'queue:sales' }]] }],
      ['sleep', 2],
    ])
    const call = new FakeCall()
    call.connects.push({ kind: 'failed', reason: 'no-answer', code: 'no_answer' })
    const unanswered = await scripts.run([{ connect }, { sleep: 1 }], {
      call,
      sections: { after: [{ sleep: 2 }] },
    })
    expect(unanswered.verbs.at(-1)).toEqual(['sleep', 1])
  })
})

describe('a destination that is a stream', () => {
  const connect = {
    to: 'stream:wss://bot.example/a',
    name: 'bot',
    codec: 'L16@16000h',
    realtime: true,
    authorization_bearer_token: 't',
    custom_parameters: { lang: 'en', n: 1 },
    status_url: receiver,
    status_url_method: 'GET',
  }

  it('streams both ways between the caller and a WebSocket until the stream ends', async () => {
    const call = new FakeCall()
    call.streamEnds.push({ kind: 'closed' })
    const { verbs, context } = await scripts.run([{ connect }, { sleep: 1 }], { call })
    expect(verbs).toEqual([
      [
        'startStream',
        {
          url: 'wss://bot.example/a',
          codec: 'L16',
          sampleRate: 16_000,
          name: 'bot',
          bearerToken: 't',
          parameters: { lang: 'en', n: '1' },
          bidirectional: true,
        },
      ],
      ['sleep', 1],
    ])
    const queries = context.callbacks.map(({ url }) => Object.fromEntries(new URL(url).searchParams))
    expect(queries).toMatchObject([
      {
        event_type: 'calling.call.stream',
        state: 'streaming',
        url: 'wss://bot.example/a',
        name: 'bot',
        call_id: 'c-1',
      },
      { event_type: 'calling.call.stream', state: 'finished' },
    ])
  })

  it('sets connect_result', async () => {
    const text = '%{connect_result}/%{connect_failed_reason}'
    for (const [end, said] of [
      [{ kind: 'closed' }, 'connected/'],
      [{ kind: 'failed', reason: 'refused' }, 'failed/error'],
    ] as const) {
      const call = new FakeCall()
      call.streamEnds.push(end)
      expect(await scripts.say(text, [{ connect: { to: connect.to } }], { call })).toBe(said)
    }
  })

  it('must be the only destination, with a supported codec', async () => {
    const parallel = [{ to: connect.to }, { to: '+1' }]
    expect((await scripts.run([{ connect: { parallel } }])).warnings).toEqual([
      '/sections/main/0/connect method_parameter_invalid_value',
    ])
    expect(faultsOf([{ connect: { to: connect.to, codec: 'OPUS' } }])).toEqual([
      '/0/connect/codec method_parameter_invalid_value',
    ])
    const set = { set: { codec: 'OPUS' } }
    const late = await scripts.run([set, { connect: { to: connect.to, codec: '%{codec}' } }])
    expect(late.warnings).toEqual(['/sections/main/1/connect method_parameter_invalid_value'])
  })
})
