import { describe, expect, it } from 'vitest'
import { FakeCall } from '../../testing/fake-call.ts'
import { FakeContext } from '../../testing/fake-context.ts'
import { fieldsOf, root, runXml } from '../../testing/run-xml.ts'
import type { CallControl, ConferenceEvent, ConferenceOptions, ConferenceParticipant } from '../../verbs.ts'
import { VerbFailed } from '../../verbs.ts'

const noun = (attributes = '', name = 'sales') => `<Conference ${attributes}>${name}</Conference>`
const action = `action="${root}/next"`

const joined = async (body: string) => {
  const { call, context } = await runXml(body)
  const options = call.verbs.find(([verb]) => verb === 'joinConference')?.[1] as ConferenceOptions
  return { options, call, context }
}

describe('Conference', () => {
  it('has the defaults of the family', async () => {
    const { options, context } = await joined(`<Dial>${noun()}</Dial>`)
    expect(options).toMatchObject({
      name: 'sales',
      isMuted: false,
      beepOn: 'both',
      startOnEnter: true,
      endOnExit: false,
      maxParticipants: 100,
      record: false,
      trim: true,
    })
    for (const name of ['coach', 'wait', 'onRecorded']) expect(options).not.toHaveProperty(name)
    expect(context.warnings).toEqual([])
  })

  it('takes its attributes', async () => {
    const attributes =
      'muted="true" beep="onExit" startConferenceOnEnter="false" endConferenceOnExit="true" maxParticipants="3" ' +
      'coach="c-7" record="record-from-start" trim="do-not-trim" waitUrl=""'
    const { options } = await joined(`<Dial>${noun(attributes)}</Dial>`)
    expect(options).toMatchObject({
      isMuted: true,
      beepOn: 'exit',
      startOnEnter: false,
      endOnExit: true,
      maxParticipants: 3,
      coach: 'c-7',
      record: true,
      trim: false,
      wait: 'none',
    })
  })

  it.each([
    ['false', 'none'],
    ['onEnter', 'enter'],
    ['true', 'both'],
  ])('beeps for %s as %s', async (beep, wanted) => {
    const { options } = await joined(`<Dial>${noun(`beep="${beep}"`)}</Dial>`)
    expect(options).toMatchObject({ beepOn: wanted })
  })

  it('sends its duration to the action of Dial', async () => {
    const { context } = await joined(`<Dial ${action}>${noun()}</Dial>`)
    expect(context.fields(0)).toMatchObject({ DialCallStatus: 'answered', DialCallDuration: '5' })
  })

  it('fails if it is full or cannot be joined', async () => {
    const full = new FakeCall()
    full.conferences.push({ kind: 'full', conferenceId: 'f-1', durationMs: 0 })
    const broken = new FakeCall()
    broken.failing.set('joinConference', new VerbFailed('conference_gone', 'no'))
    for (const call of [full, broken]) {
      const { context } = await runXml(`<Dial ${action}>${noun()}</Dial>`, { call })
      expect(context.fields(0)).toMatchObject({ DialCallStatus: 'failed' })
    }
  })

  it('must be alone in Dial', async () => {
    const { call, context } = await joined(`<Dial>${noun()}<Number>1</Number></Dial>`)
    expect(call.names).not.toContain('connect')
    expect(context.warnings).toMatchObject([{ code: '12200', path: '/Response/Dial[1]' }])
  })

  it('is not joined without a name', async () => {
    const { call, context } = await joined(`<Dial ${action}>${noun('', ' ')}</Dial>`)
    expect(call.names).not.toContain('joinConference')
    expect(context.fields(0)).toMatchObject({ DialCallStatus: 'failed' })
  })

  it('ends for the caller by * if Dial says so, and after the timeLimit', async () => {
    const steps: string[] = []
    const call = new FakeCall()
    call.during.set('joinConference', async ({ onJoined }: ConferenceOptions) => {
      const participant = { leave: () => void steps.push('left') } as Partial<ConferenceParticipant>
      onJoined?.(participant as ConferenceParticipant)
      await Promise.resolve()
      steps.push('limit')
      call.press('1')
      call.press('*')
    })
    await runXml(`<Dial hangupOnStar="true" timeLimit="60">${noun()}</Dial>`, { call })
    expect(call.verbs).toContainEqual(['sleep', 60_000])
    call.press('*')
    expect(steps.filter((what) => what === 'left')).toHaveLength(2)
  })

  it.each(['waitMethod', 'waitUrlMethod'])(
    'runs its waitUrl for the waiting caller, by its %s',
    async (method) => {
      const waiting = new FakeCall()
      const context = new FakeContext({ [`${root}/wait`]: '<Response><Say>Soon</Say></Response>' })
      const call = new FakeCall()
      call.during.set('joinConference', async ({ wait }: ConferenceOptions) =>
        (wait as (call: CallControl) => Promise<void>)(waiting),
      )
      const attributes = `waitUrl="${root}/wait" ${method}="GET"`
      await runXml(`<Dial>${noun(attributes)}</Dial>`, { call, context })
      expect(waiting.names).toEqual(['play'])
      expect(context.requests).toMatchObject([{ method: 'GET' }])
    },
  )
})

const event = (kind: ConferenceEvent['kind'], more: Partial<ConferenceEvent> = {}): ConferenceEvent => ({
  kind,
  conferenceId: 'f-1',
  name: 'sales',
  sequence: 0,
  isMuted: false,
  isHeld: false,
  size: 1,
  ...more,
})

/** Returns the callbacks for conference events and a recording. */
const callbacksOf = async (attributes: string, events: readonly ConferenceEvent[], bytes = 64_000) => {
  const call = new FakeCall()
  call.during.set('joinConference', ({ onEvent, onRecording, onRecorded }: ConferenceOptions) => {
    for (const one of events) onEvent?.(one)
    const recording = { id: 'r-1', url: 'https://gw.example/r-1' }
    onRecording?.(recording)
    onRecorded?.({ ...recording, durationMs: 8000, bytes, reason: 'stopped' })
  })
  const { context } = await runXml(`<Dial>${noun(attributes)}</Dial>`, { call })
  return context.callbacks
}

const all = (['start', 'join', 'mute', 'unmute', 'hold', 'unhold', 'speaker', 'leave', 'end'] as const).map(
  (kind, sequence) => event(kind, { sequence, ...(kind !== 'start' && kind !== 'end' && { callId: 'c-1' }) }),
)

describe('the callbacks of Conference', () => {
  it('receive start, end, join and leave by default, with the fields in order', async () => {
    const callbacks = await callbacksOf(`statusCallback="${root}/status"`, all)
    expect(callbacks.map((one) => fieldsOf(one).StatusCallbackEvent)).toEqual([
      'conference-start',
      'participant-join',
      'participant-leave',
      'conference-end',
    ])
    expect(callbacks[0]).toMatchObject({ kind: 'conference', url: `${root}/status`, method: 'POST' })
    expect(Object.entries(fieldsOf(callbacks[1]))).toEqual([
      ['ConferenceSid', 'f-1'],
      ['FriendlyName', 'sales'],
      ['AccountSid', 'demo'],
      ['SequenceNumber', '1'],
      ['Timestamp', 'Mon, 05 Jan 2026 12:00:00 +0000'],
      ['StatusCallbackEvent', 'participant-join'],
      ['CallSid', 'c-1'],
      ['Muted', 'false'],
      ['Hold', 'false'],
    ])
  })

  it('receive the requested events, by their method', async () => {
    const attributes = 'statusCallbackEvent="mute hold speaker" statusCallbackMethod="GET"'
    const callbacks = await callbacksOf(`statusCallback="${root}/status" ${attributes}`, all)
    expect(callbacks[0]).toMatchObject({ method: 'GET' })
    expect(callbacks.map((one) => fieldsOf(one).StatusCallbackEvent)).toEqual([
      'participant-mute',
      'participant-unmute',
      'participant-hold',
      'participant-unhold',
      'participant-speech-start',
    ])
  })

  it('receive the start and the absence of a recording if requested', async () => {
    const callback = `recordingStatusCallback="${root}/status" recordingStatusCallbackEvent="in-progress completed absent"`
    for (const [bytes, end] of [
      [64_000, 'completed'],
      [0, 'absent'],
    ] as const) {
      const callbacks = await callbacksOf(callback, [event('start')], bytes)
      expect(callbacks.map(fieldsOf)).toMatchObject([
        { RecordingStatus: 'in-progress', ConferenceSid: 'f-1' },
        { RecordingStatus: end, ConferenceSid: 'f-1' },
      ])
    }
  })

  it('receive the URL of the recording', async () => {
    const callback = `recordingStatusCallback="${root}/status" recordingStatusCallbackMethod="GET" recordingStatusCallbackEvent="completed"`
    const callbacks = await callbacksOf(`${callback} eventCallbackUrl="${root}/event"`, [event('start')])
    expect(callbacks).toMatchObject([
      { kind: 'recording', method: 'GET' },
      { kind: 'conference', url: `${root}/event`, method: 'POST' },
    ])
    expect(fieldsOf(callbacks[0])).toMatchObject({
      ConferenceSid: 'f-1',
      RecordingSid: 'r-1',
      RecordingStatus: 'completed',
      RecordingSource: 'Conference',
    })
    expect(fieldsOf(callbacks[1])).toEqual({
      ConferenceSid: 'f-1',
      RecordingUrl: 'https://gw.example/r-1',
      Duration: '8',
      Timestamp: 'Mon, 05 Jan 2026 12:00:00 +0000',
    })
  })
})
