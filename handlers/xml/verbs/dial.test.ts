import { describe, expect, it } from 'vitest'
import { FakeCall, testCallee } from '../../testing/fake-call.ts'
import { FakeContext } from '../../testing/fake-context.ts'
import { fieldsOf, root, runXml } from '../../testing/run-xml.ts'
import type { ConnectOptions, ConnectResult, RecordOptions } from '../../verbs.ts'
import { VerbFailed } from '../../verbs.ts'

const sip = '<Sip>sip:a@b.example</Sip>'
const action = `action="${root}/next"`

const run = (body: string, laid?: ConnectResult, at?: string) => {
  const call = new FakeCall()
  if (laid) call.connects.push(laid)
  return runXml(body, { call, at })
}

/** Returns the options of `connect`, and the warnings. */
const connectOf = async (body: string) => {
  const { call, context } = await run(body)
  const options = call.verbs.find(([name]) => name === 'connect')?.[1] as ConnectOptions
  return { options, warnings: context.warnings }
}

describe('Dial', () => {
  it('has the defaults of the family', async () => {
    const { options, warnings } = await connectOf(`<Dial>${sip}</Dial>`)
    expect(options).toMatchObject({
      steps: [[{ to: 'sip:a@b.example' }]],
      timeoutMs: 30_000,
      maxDurationMs: 14_400_000,
      answerOnBridge: false,
      hangupOnStar: false,
    })
    expect(options).not.toHaveProperty('ringback')
    expect(options.steps[0]?.[0]).not.toHaveProperty('from')
    expect(warnings).toEqual([])
  })

  it('takes timeout, timeLimit, answerOnBridge, hangupOnStar and ringTone', async () => {
    const attributes = 'timeout="20" timeLimit="60" answerOnBridge="true" hangupOnStar="true" ringTone="de"'
    const { options } = await connectOf(`<Dial ${attributes}>+1 (555) 123-4567</Dial>`)
    expect(options).toMatchObject({
      steps: [[{ to: '+15551234567' }]],
      timeoutMs: 20_000,
      maxDurationMs: 60_000,
      answerOnBridge: true,
      hangupOnStar: true,
      ringback: [{ kind: 'ringtone', country: 'de' }],
    })
  })

  it('shows callerId and callerName to every callee', async () => {
    const { options } = await connectOf(
      `<Dial callerId="sales_team" callerName="${'B'.repeat(71)}">${sip}<Number>+15550003</Number></Dial>`,
    )
    const caller = { from: 'sales_team', fromName: 'B'.repeat(70) }
    expect(options.steps).toMatchObject([[caller, caller]])
  })

  it('rings several nouns at once', async () => {
    const { options } = await connectOf(
      `<Dial><Client>alice</Client><Number>+15550003</Number>${sip}<Queue>sales</Queue></Dial>`,
    )
    const to = ['/public/alice', '+15550003', 'sip:a@b.example', 'queue:sales']
    expect(options.steps.map((step) => step.map((one) => one.to))).toEqual([to])
  })

  it('calls only the first ten nouns, and warns', async () => {
    const { options, warnings } = await connectOf(`<Dial>${'<Number>1</Number>'.repeat(11)}</Dial>`)
    expect(options.steps[0]).toHaveLength(10)
    expect(warnings).toMatchObject([{ code: '12200', path: '/Response/Dial[1]' }])
  })

  it.each([
    ['12200', 'no destination', '<Dial/>', '/Response/Dial[1]'],
    [
      '12200',
      'only nouns that are not supported',
      '<Dial><Verto>a</Verto></Dial>',
      '/Response/Dial[1]/Verto[1]',
    ],
    ['13223', 'a number that is none', '<Dial>call me</Dial>', '/Response/Dial[1]'],
  ])('fails with warning %s for %s', async (code, _what, body, path) => {
    const { call, context } = await run(body.replace('<Dial', `<Dial ${action}`))
    expect(context.warnings).toMatchObject([{ code, path, line: 1 }])
    expect(context.fields(0)).toMatchObject({ DialCallStatus: 'failed' })
    expect(call.names).toEqual(['answer', 'hangup'])
  })

  it('continues with the next verb without an action', async () => {
    expect((await run(`<Dial>${sip}</Dial><Say>Bye</Say>`)).call.names).toEqual(['connect', 'play'])
  })

  it('requests the document itself for an empty action, and ignores an empty callback', async () => {
    const call = new FakeCall()
    const context = new FakeContext()
    call.during.set('connect', ({ steps }: ConnectOptions) => {
      context.documents[`${root}/self`] = '<Response/>'
      expect(Object.keys(steps[0]![0]!)).toEqual(['to', 'headersFor'])
    })
    const body = '<Dial action=""><Sip url="" statusCallback=" ">sip:a@b.example</Sip></Dial>'
    await runXml(body, { call, context, at: '/self' })
    expect(context.requests.map(({ url }) => url)).toEqual([`${root}/self`, `${root}/self`])
    expect(context.fields(1)).toMatchObject({ DialCallStatus: 'completed' })
    expect((await run(body)).context.requests).toEqual([])
  })

  it('sends the outcome to the action, and runs its document', async () => {
    const headers = [{ name: 'X-Agent', value: 'bob' }]
    const callee = { ...testCallee, sip: { callId: 'sip-2', status: 200, headers } }
    const laid = { kind: 'connected', endedBy: 'callee', durationMs: 61_400, callee } as const
    const { call, context } = await run(`<Dial ${action} method="GET">${sip}</Dial><Say>never</Say>`, laid)
    expect(call.names).toEqual(['connect', 'hangup'])
    expect(context.requests[0]).toMatchObject({ method: 'GET' })
    expect(context.fields(0)).toMatchObject({ CallSid: 'c-1', CallStatus: 'in-progress' })
    expect(Object.entries(context.fields(0)).slice(-6)).toEqual([
      ['DialCallStatus', 'completed'],
      ['DialCallSid', 'c-2'],
      ['DialCallDuration', '61'],
      ['DialSipCallId', 'sip-2'],
      ['DialSipResponseCode', '200'],
      ['DialSipHeader_X-Agent', 'bob'],
    ])
  })

  it('sends no SIP fields without a Sip noun', async () => {
    const { context } = await run(`<Dial ${action}>+15550003</Dial>`)
    expect(Object.keys(context.fields(0)).filter((name) => name.startsWith('DialSip'))).toEqual([])
  })

  it.each([
    ['busy', 'busy'],
    ['declined', 'busy'],
    ['no-answer', 'no-answer'],
    ['canceled', 'canceled'],
    ['unreachable', 'failed'],
    ['error', 'failed'],
  ] as const)('calls %s %s', async (reason, status) => {
    const laid = { kind: 'failed', reason, code: reason, sipStatus: 486 } as const
    const { context } = await run(`<Dial ${action}>${sip}</Dial>`, laid)
    expect(context.fields(0)).toMatchObject({ DialCallStatus: status, DialSipResponseCode: '486' })
  })

  it('fails if no call could be placed', async () => {
    const call = new FakeCall()
    call.failing.set('connect', new VerbFailed('bad_destination', 'no'))
    const { context } = await runXml(`<Dial ${action}>${sip}</Dial>`, { call })
    expect(context.fields(0)).toMatchObject({ DialCallStatus: 'failed' })
    expect(context.warnings).toMatchObject([{ code: 'bad_destination' }])
  })

  it('lets the gateway reject an unanswered caller for the cause of the failure', async () => {
    const laid = { kind: 'failed', reason: 'error', code: 'too_many_hops' } as const
    const { call } = await run(`<Dial answerOnBridge="true">${sip}</Dial>`, laid)
    expect(call.names).toEqual(['connect'])
  })

  it('reports to the action that the caller hung up, and runs no further verb', async () => {
    const laid = { kind: 'connected', endedBy: 'caller', durationMs: 1000, callee: testCallee } as const
    const { call, context } = await run(`<Dial ${action}>${sip}</Dial><Say>never</Say>`, laid)
    expect(call.names).toEqual(['connect'])
    expect(context.requests).toEqual([])
    expect(context.callbacks).toMatchObject([{ kind: 'action', url: `${root}/next`, method: 'POST' }])
    expect(fieldsOf(context.callbacks[0])).toMatchObject({
      CallStatus: 'completed',
      DialCallStatus: 'completed',
    })
  })

  it('reports to the action that the caller hung up during the ringing', async () => {
    const call = new FakeCall()
    call.endsDuring = 'connect'
    const { context } = await runXml(`<Dial ${action}>${sip}</Dial><Say>never</Say>`, { call })
    expect(context.callbacks.map(fieldsOf)).toMatchObject([
      { CallStatus: 'completed', DialCallStatus: 'canceled' },
    ])
  })
})

/** Returns a call whose callee answers, which starts a recording from the answer. */
const answeredCall = () => {
  const call = new FakeCall()
  call.during.set('connect', ({ onConnected }: ConnectOptions) =>
    onConnected?.({ callee: testCallee, hangup: () => {}, sendDigits: async () => {} }),
  )
  return call
}

describe('Dial with a recording', () => {
  const callback = `recordingStatusCallback="${root}/status"`

  it.each([
    ['record-from-answer', ['connect', 'startRecording', 'stop'], 'both'],
    ['record-from-ringing', ['startRecording', 'connect', 'stop'], 'both'],
    ['record-from-answer-dual', ['connect', 'startRecording', 'stop'], 'stereo'],
    ['record-from-ringing-dual', ['startRecording', 'connect', 'stop'], 'stereo'],
  ] as const)('records by %s, and sends the URL to its action', async (record, names, tracks) => {
    const call = answeredCall()
    const { context } = await runXml(`<Dial record="${record}" ${action}>${sip}</Dial>`, { call })
    expect(call.names).toEqual([...names, 'hangup'])
    const options = call.verbs.find(([name]) => name === 'startRecording')?.[1] as RecordOptions
    expect(options).toEqual({ tracks, trim: false, source: 'DialVerb' })
    expect(context.fields(0)).toMatchObject({ RecordingUrl: 'https://gw.example/r-1' })
  })

  it('takes recordingTrack and trim', async () => {
    const call = answeredCall()
    await runXml(
      `<Dial record="record-from-answer" recordingTrack="outbound" trim="trim-silence">${sip}</Dial>`,
      { call },
    )
    expect(call.verbs[1]).toEqual(['startRecording', { tracks: 'out', trim: true, source: 'DialVerb' }])
  })

  it('does not answer an answerOnBridge caller to record the ringing', async () => {
    const call = answeredCall()
    await runXml(`<Dial record="record-from-ringing" answerOnBridge="true">${sip}</Dial>`, { call })
    expect(call.names).toEqual(['connect', 'startRecording', 'stop'])
  })

  it('sends the requested states to its callback', async () => {
    const events = 'recordingStatusCallbackEvent="in-progress completed" recordingStatusCallbackMethod="GET"'
    const body = `<Dial record="record-from-answer-dual" ${callback} ${events}>${sip}</Dial>`
    const { context } = await runXml(body, { call: answeredCall() })
    expect(context.callbacks).toMatchObject([
      { kind: 'recording', method: 'GET' },
      { kind: 'recording', method: 'GET' },
    ])
    const common = { RecordingSid: 'r-1', RecordingChannels: '2', RecordingSource: 'DialVerb' }
    expect(context.callbacks.map(fieldsOf)).toMatchObject([
      { ...common, RecordingStatus: 'in-progress' },
      { ...common, RecordingStatus: 'completed', RecordingDuration: '2' },
    ])
  })

  it('is sent by recordingStorageUrlMethod to recordingStorageUrl, which its callback then receives', async () => {
    const call = answeredCall()
    const stored = Promise.resolve('https://store.example/a.wav')
    call.stored.push(stored)
    const storage = 'recordingStorageUrl="https://store.example/a.wav?sig=1" recordingStorageUrlMethod="POST"'
    const body = `<Dial record="record-from-answer" ${storage} ${callback}>${sip}</Dial>`
    const { context } = await runXml(body, { call })
    expect(call.verbs[1]?.[1]).toMatchObject({
      storage: { url: 'https://store.example/a.wav?sig=1', method: 'POST' },
    })
    await stored
    expect(context.callbacks.map(fieldsOf)).toMatchObject([
      { RecordingStatus: 'completed', RecordingUrl: 'https://store.example/a.wav' },
    ])
  })

  it('bridges even if the recording fails', async () => {
    const call = answeredCall()
    call.failing.set('startRecording', new VerbFailed('recording_no_space', 'full'))
    const { context } = await runXml(
      `<Dial record="record-from-answer" ${callback} ${action}>${sip}</Dial>`,
      {
        call,
      },
    )
    expect(context.fields(0)).toMatchObject({ DialCallStatus: 'completed' })
    expect(context.fields(0)).not.toHaveProperty('RecordingUrl')
    expect(context.callbacks).toEqual([])
    expect(context.warnings).toMatchObject([{ code: 'recording_no_space', path: '/Response/Dial[1]' }])
  })

  it('sends the states to its callback also after the caller hung up', async () => {
    const call = answeredCall()
    call.connects.push({ kind: 'connected', endedBy: 'caller', durationMs: 1000, callee: testCallee })
    const { context } = await runXml(
      `<Dial record="record-from-answer" ${callback} ${action}>${sip}</Dial>`,
      {
        call,
      },
    )
    expect(context.callbacks.map(({ kind }) => kind)).toEqual(['recording', 'action'])
    expect(fieldsOf(context.callbacks[1])).toMatchObject({ RecordingUrl: 'https://gw.example/r-1' })
  })
})
