import { afterAll, describe, expect, it } from 'vitest'
import { FakeCall } from '../../testing/fake-call.ts'
import { FakeContext } from '../../testing/fake-context.ts'
import { eventsOf, faultsOf, TestScripts } from '../../testing/test-scripts.ts'
import type {
  ConferenceEvent,
  ConferenceOptions,
  ConferenceParticipant,
  QueueOptions,
  RecordResult,
} from '../../verbs.ts'
import { VerbFailed } from '../../verbs.ts'

const scripts = new TestScripts()
afterAll(() => scripts.close())

const receiver = 'https://app.example/events'
const participant: ConferenceParticipant = {
  conferenceId: 'f-1',
  name: 'team',
  mute: () => {},
  hold: () => {},
  leave: () => {},
}
const eventOf = (kind: ConferenceEvent['kind'], more: Partial<ConferenceEvent> = {}): ConferenceEvent => ({
  kind,
  conferenceId: 'f-1',
  name: 'team',
  sequence: 4,
  isMuted: false,
  isHeld: false,
  size: 2,
  ...more,
})

/** Runs `join_conference`, and an action with its options during the conference. */
const join = async (
  parameters: object,
  during: (options: ConferenceOptions) => unknown = () => {},
  context = new FakeContext(),
) => {
  const call = new FakeCall()
  call.during.set('joinConference', during)
  return scripts.run([{ join_conference: { name: 'team', ...parameters } }], { call, context })
}

describe('join_conference', () => {
  it('has the defaults of the language', async () => {
    expect((await join({})).verbs).toEqual([
      [
        'joinConference',
        {
          name: 'team',
          isMuted: false,
          beepOn: 'both',
          startOnEnter: true,
          endOnExit: false,
          record: false,
          trim: true,
        },
      ],
    ])
  })

  it('passes every parameter to the verb', async () => {
    const parameters = {
      muted: true,
      beep: 'onEnter',
      start_on_enter: false,
      end_on_exit: 'true',
      max_participants: 5,
      record: 'record-from-start',
      trim: 'do-not-trim',
      coach: 'c-9',
    }
    expect((await join(parameters)).verbs[0]?.[1]).toEqual({
      name: 'team',
      isMuted: true,
      beepOn: 'enter',
      startOnEnter: false,
      endOnExit: true,
      maxParticipants: 5,
      record: true,
      trim: false,
      coach: 'c-9',
    })
    expect((await join({ beep: false })).verbs[0]?.[1]).toMatchObject({ beepOn: 'none' })
    expect((await join({ beep: 'onExit' })).verbs[0]?.[1]).toMatchObject({ beepOn: 'exit' })
  })

  it('runs the script of wait_url for the waiting caller, until the wait ends', async () => {
    const url = 'https://app.example/wait'
    const context = new FakeContext({ [url]: '{"sections":{"main":[{"play":{"url":"say:Soon"}}]}}' })
    const waiting = new FakeCall()
    const { names } = await join(
      { wait_url: url },
      ({ wait }) => typeof wait === 'function' && wait(waiting),
      context,
    )
    expect([names, waiting.names]).toEqual([['joinConference'], ['play']])
    expect(context.requests).toMatchObject([{ url, method: 'POST' }])
  })

  it('reports the faults of the wait_url script once', async () => {
    const url = 'https://app.example/wait'
    const main = [{ answer: { username: 'x' } }, { sleep: 1 }, 'stop_tap']
    const context = new FakeContext({ [url]: JSON.stringify({ sections: { main } }) })
    const waiting = new FakeCall()
    const twice = async ({ wait }: ConferenceOptions) => {
      if (typeof wait === 'function') for (const _ of [1, 2]) await wait(waiting)
    }
    const { warnings } = await join({ wait_url: url }, twice, context)
    expect([waiting.names, warnings.length]).toEqual([['answer', 'sleep', 'sleep'], 2])
  })

  it.each([
    ['left', 'completed'],
    ['removed', 'completed'],
    ['ended', 'completed'],
    ['full', 'failed'],
  ] as const)('sets its variables: %s is %s', async (kind, word) => {
    const call = new FakeCall()
    call.conferences.push({ kind, conferenceId: 'f-1', durationMs: 1 })
    const steps = [{ join_conference: { name: 'team' } }]
    expect(await scripts.say('%{join_conference_result} %{return_value}', steps, { call })).toBe(
      `${word} ${word}`,
    )
  })

  it('runs the branch of result, but none after the call has ended', async () => {
    const result = { case: { completed: [{ sleep: 1 }] }, default: [{ sleep: 2 }] }
    expect((await join({ result })).verbs.at(-1)).toEqual(['sleep', 1])
    const call = new FakeCall()
    call.during.set('joinConference', () => call.end())
    expect((await scripts.run([{ join_conference: { name: 'a', result } }], { call })).names).toEqual([
      'joinConference',
    ])
    const failing = new FakeCall()
    failing.failing.set('joinConference', new VerbFailed('conference_full', 'no'))
    expect(
      await scripts.say('%{join_conference_result}', [{ join_conference: { name: 'a' } }], { call: failing }),
    ).toBe('failed')
  })

  it('sends events to status_callback as JSON', async () => {
    const { context } = await join({ status_callback: receiver }, ({ onEvent }) => {
      onEvent?.(eventOf('start'))
      onEvent?.(eventOf('unmute', { callId: 'c-1', isMuted: false }))
    })
    const event = {
      to: `POST ${receiver}`,
      event_type: 'calling.conference',
      conference_id: 'f-1',
      name: 'team',
    }
    expect(eventsOf(context)).toEqual([
      { ...event, status: 'conference-start', size: 2, muted: false, hold: false, sequence: 4 },
      {
        ...event,
        status: 'participant-unmute',
        size: 2,
        muted: false,
        hold: false,
        sequence: 4,
        participant_call_id: 'c-1',
      },
    ])
  })

  it('sends status_callback the requested events as a form or a query', async () => {
    const parameters = {
      status_callback: receiver,
      status_callback_event: 'join leave',
      status_callback_event_type: 'cxml',
    }
    const happens = ({ onEvent }: ConferenceOptions) => {
      onEvent?.(eventOf('start'))
      onEvent?.(eventOf('join', { callId: 'c-1' }))
    }
    const { context } = await join(parameters, happens)
    expect(context.callbacks.map(({ body }) => Object.fromEntries(new URLSearchParams(body?.text)))).toEqual([
      {
        ConferenceSid: 'f-1',
        FriendlyName: 'team',
        AccountSid: 'demo',
        SequenceNumber: '4',
        Timestamp: 'Mon, 05 Jan 2026 12:00:00 +0000',
        StatusCallbackEvent: 'participant-join',
        CallSid: 'c-1',
        Muted: 'false',
        Hold: 'false',
      },
    ])
    const byGet = await join({ ...parameters, status_callback_method: 'GET' }, happens)
    expect(byGet.context.callbacks[0]?.url).toContain('StatusCallbackEvent=participant-join')
  })

  const recorded: RecordResult = {
    id: 'r-1',
    url: 'https://gw.example/r-1',
    durationMs: 4600,
    bytes: 9000,
    reason: 'stopped',
  }
  /** Runs a conference whose recording starts and ends, with `more` parameters. Returns the callbacks. */
  const recordingEvents = async (more: object, over: RecordResult = recorded) => {
    const parameters = { record: 'record-from-start', recording_status_callback: receiver, ...more }
    const { context } = await join(parameters, ({ onRecording, onRecorded }) => {
      onRecording?.({ id: over.id, url: over.url })
      onRecorded?.(over)
    })
    return context.callbacks
  }
  const formsOf = (callbacks: Awaited<ReturnType<typeof recordingEvents>>) =>
    callbacks.map(({ body }) => Object.fromEntries(new URLSearchParams(body?.text)))

  it('sends the state of the recording to recording_status_callback', async () => {
    const [ended, ...more] = await recordingEvents({ recording_status_callback_method: 'POST' })
    expect([ended?.ends, more]).toEqual(['r-1', []])
    expect(formsOf(ended ? [ended] : [])).toEqual([
      {
        AccountSid: 'demo',
        CallSid: 'c-1',
        RecordingSid: 'r-1',
        RecordingUrl: 'https://gw.example/r-1',
        RecordingStatus: 'completed',
        RecordingDuration: '5',
        RecordingChannels: '1',
        RecordingSource: 'Conference',
      },
    ])
  })

  it.each([
    ['in-progress completed absent', {}, ['in-progress', 'completed']],
    ['in-progress,absent', {}, ['in-progress']],
    ['absent', { bytes: 0 }, ['absent']],
    ['completed', { bytes: 0 }, []],
    ['completed', { reason: 'error' }, ['failed']],
  ] as const)(
    'sends the events that recording_status_callback_event names: %s, %j',
    async (events, over, statuses) => {
      const callbacks = await recordingEvents(
        { recording_status_callback_event: events },
        { ...recorded, ...over },
      )
      expect(formsOf(callbacks).map(({ RecordingStatus }) => RecordingStatus)).toEqual(statuses)
    },
  )

  it('sends the recording as JSON if recording_status_callback_event_type says so', async () => {
    const how = { recording_status_callback_event_type: 'relay' }
    const callbacks = await recordingEvents({
      ...how,
      recording_status_callback_event: 'in-progress completed',
    })
    const events = callbacks.map(({ body }) => JSON.parse(body?.text ?? ''))
    expect(events.map(({ event_type, params }) => [event_type, params.state, params.url])).toEqual([
      ['calling.call.record', 'recording', recorded.url],
      ['calling.call.record', 'finished', recorded.url],
    ])
    expect(events[1].params).toMatchObject({
      recording_id: 'r-1',
      duration: 4.6,
      size: 9000,
      record: { audio: { format: 'wav', stereo: false } },
    })
    expect(callbacks.map(({ ends }) => ends)).toEqual([undefined, 'r-1'])
    const silent = await recordingEvents(
      { ...how, recording_status_callback_event: 'absent' },
      { ...recorded, bytes: 0 },
    )
    expect(JSON.parse(silent[0]?.body?.text ?? '').params).toMatchObject({ state: 'no_input', url: '' })
  })

  it('stores the recording callback in case the gateway dies', async () => {
    const parameters = {
      recording_status_callback: receiver,
      recording_status_callback_event: 'absent in-progress',
    }
    const { verbs } = await join(parameters)
    expect(verbs[0]?.[1]).toMatchObject({
      recordingStatusTarget: {
        dialect: 'form',
        url: receiver,
        method: 'POST',
        events: ['in-progress', 'absent'],
      },
    })
    const relay = await join({ ...parameters, recording_status_callback_event_type: 'relay' })
    expect(relay.verbs[0]?.[1]).toMatchObject({
      recordingStatusTarget: { dialect: 'json', url: receiver, events: ['in-progress', 'absent'] },
    })
  })

  it('starts its stream when the caller has joined', async () => {
    const stream = { url: 'wss://x.example/a', name: 'n' }
    const { verbs } = await join({ stream }, async ({ onJoined }) => onJoined?.(participant))
    expect(verbs.map(([name]) => name)).toEqual(['joinConference', 'startStream'])
  })

  it('rejects invalid values, and warns of parameters without an effect', async () => {
    expect(faultsOf([{ join_conference: { name: 'a', beep: 'loud' } }])).toEqual([
      '/0/join_conference/beep method_parameter_invalid_value',
    ])
    expect(faultsOf([{ join_conference: { name: 'a', status_callback_event: 'jump' } }])).toEqual([
      '/0/join_conference/status_callback_event method_parameter_invalid_value',
    ])
    expect((await join({ region: 'x' })).warnings).toEqual([
      '/sections/main/0/join_conference/region method_parameter_undefined',
    ])
    expect(faultsOf([{ join_conference: { name: 'a', recording_status_callback_event: 'lost' } }])).toEqual([
      '/0/join_conference/recording_status_callback_event method_parameter_invalid_value',
    ])
    expect((await join({ name: 'x'.repeat(129) })).names).toEqual([])
  })
})

describe('enter_queue', () => {
  const enter = { queue_name: 'sales', transfer_after_bridge: 'after' }
  const sections = { after: [{ sleep: 2 }] }

  it('waits, and transfers after the caller was served', async () => {
    const { verbs } = await scripts.run([{ enter_queue: { ...enter, wait_time: 60 } }, { sleep: 1 }], {
      sections,
    })
    expect(verbs).toEqual([
      ['enterQueue', { name: 'sales', maxWaitMs: 60_000 }],
      ['sleep', 2],
    ])
    expect((await scripts.run([{ enter_queue: enter }], { sections })).verbs[0]?.[1]).toMatchObject({
      maxWaitMs: 3_600_000,
    })
  })

  it('plays wait_url to the waiting caller', async () => {
    const call = new FakeCall()
    const waiting = new FakeCall()
    call.during.set('enterQueue', ({ wait }: QueueOptions) => wait?.(waiting, () => undefined as never))
    await scripts.run([{ enter_queue: { ...enter, wait_url: 'https://x.example/a.mp3' } }], {
      call,
      sections,
    })
    expect(waiting.verbs).toEqual([['play', { sounds: [{ kind: 'audio', url: 'https://x.example/a.mp3' }] }]])
  })

  it.each([
    ['left', 'leaving'],
    ['timeout', 'timeout'],
    ['full', 'failed'],
  ] as const)(
    'sets its variables, and continues if the caller was not taken: %s is %s',
    async (kind, word) => {
      const call = new FakeCall()
      call.queues.push({ kind, queueId: 'q-1', waitedMs: 3000, position: 2, size: 4 })
      const text = '%{queue_result} %{wait_time} %{entry_position} %{entry_size}'
      expect(await scripts.say(text, [{ enter_queue: enter }], { call, sections })).toBe(`${word} 3 2 4`)
    },
  )

  it('ends when the caller hangs up', async () => {
    const call = new FakeCall()
    call.queues.push({ kind: 'hangup', queueId: 'q-1', waitedMs: 3000, position: 2, size: 4 })
    expect((await scripts.run([{ enter_queue: enter }, 'answer'], { call, sections })).names).toEqual([
      'enterQueue',
    ])
  })

  it('sends the position to status_url', async () => {
    const call = new FakeCall()
    const place = { queueId: 'q-1', name: 'sales', position: 1, size: 3, waitedMs: 0, averageWaitMs: 2500 }
    call.during.set('enterQueue', ({ onEvent }: QueueOptions) => onEvent?.('enqueue', place))
    const { context } = await scripts.run([{ enter_queue: { ...enter, status_url: receiver } }], {
      call,
      sections,
    })
    expect(eventsOf(context)).toEqual([
      {
        to: `POST ${receiver}`,
        event_type: 'calling.call.queue',
        status: 'enqueue',
        id: 'q-1',
        name: 'sales',
        position: 1,
        size: 3,
        avg_time: 2.5,
        enqueue_ts: context.time / 1000,
      },
    ])
  })

  it('requires transfer_after_bridge', () => {
    expect(faultsOf([{ enter_queue: enter }])).toEqual([
      '/0/enter_queue/transfer_after_bridge method_parameter_invalid_value',
    ])
    expect(faultsOf([{ enter_queue: { queue_name: 'a' } }])).toEqual([
      '/0/enter_queue method_parameter_missing',
    ])
  })
})
