import { afterAll, describe, expect, it } from 'vitest'
import { FakeCall } from '../../testing/fake-call.ts'
import { eventsOf, faultsOf, TestScripts } from '../../testing/test-scripts.ts'
import type { RecordOptions, RecordResult } from '../../verbs.ts'
import { VerbFailed } from '../../verbs.ts'

const scripts = new TestScripts()
afterAll(() => scripts.close())

const run = (steps: unknown[], of: { call?: FakeCall; recordings?: Partial<RecordResult>[] } = {}) => {
  const call = of.call ?? new FakeCall()
  call.recordings.push(...(of.recordings ?? []))
  return scripts.run(steps, { call })
}

/** Returns the values of variables after the steps. */
const after = async (
  steps: unknown[],
  names: readonly string[],
  recordings: Partial<RecordResult>[] = [],
) => {
  const call = new FakeCall()
  call.recordings.push(...recordings)
  return (await scripts.say(names.map((name) => `%{${name}}`).join('|'), steps, { call }))?.split('|')
}

describe('record', () => {
  it('has the defaults of the language', async () => {
    expect((await run(['record'])).verbs).toEqual([
      [
        'record',
        {
          format: 'wav',
          tracks: 'in',
          beep: false,
          terminators: '#',
          initialSilenceMs: 4000,
          endSilenceMs: 5000,
        },
      ],
    ])
  })

  it('passes every parameter to the verb', async () => {
    const record = {
      format: 'mp3',
      direction: 'listen',
      beep: true,
      terminators: '*9',
      max_length: 30,
      initial_timeout: '2.5',
      end_silence_timeout: 0,
      input_sensitivity: '62.5',
    }
    expect((await run([{ record }])).verbs[0]?.[1]).toEqual({
      format: 'mp3',
      tracks: 'out',
      beep: true,
      terminators: '*9',
      maxMs: 30_000,
      initialSilenceMs: 2500,
      endSilenceMs: Number.POSITIVE_INFINITY,
      sensitivity: 62.5,
    })
    expect((await run([{ record: { terminators: '' } }])).verbs[0]?.[1]).toMatchObject({ terminators: '' })
  })

  it.each([
    ['silence', 48_044, 'https://gw.example/r-1', 'success'],
    ['no-input', 0, '', 'no_input'],
    ['error', 364, 'https://gw.example/r-1', 'failed'],
  ] as const)('reports its result: %s', async (reason, bytes, url, word) => {
    const names = ['record_url', 'record_result']
    expect(await after(['record'], names, [{ reason, bytes }])).toEqual([url, word])
  })

  it('ends the script when the caller hangs up', async () => {
    const call = new FakeCall()
    await run(['record', 'answer'], { call, recordings: [{ reason: 'hangup' }] })
    expect(call.names).toEqual(['record'])
  })

  it('that cannot start causes a warning, and the next step runs', async () => {
    const call = new FakeCall()
    call.failing.set('record', new VerbFailed('recording_no_space', 'no space'))
    const { names, warnings } = await run(['record', { sleep: 1 }], { call })
    expect(names).toEqual(['record', 'sleep'])
    expect(warnings).toEqual(['/sections/main/0 recording_no_space'])
  })

  it('in stereo has both sides, and conflicts with a single direction', async () => {
    expect((await run([{ record: { stereo: true } }])).verbs[0]?.[1]).toMatchObject({ tracks: 'stereo' })
    const { verbs, warnings } = await run([{ record: { stereo: true, direction: 'speak' } }])
    expect([verbs, warnings]).toEqual([[], ['/sections/main/0/record method_parameter_invalid_value']])
  })

  it('rejects unsupported values', () => {
    expect(faultsOf([{ record: { format: 'mp4' } }])).toEqual([
      '/0/record/format method_parameter_invalid_value',
    ])
    expect(faultsOf([{ record: { direction: 'sideways' } }])).toEqual([
      '/0/record/direction method_parameter_invalid_value',
    ])
    expect(faultsOf([{ record: { initial_timeout: -1 } }])).toEqual([
      '/0/record/initial_timeout method_parameter_invalid_value',
    ])
    expect(faultsOf([{ record: { input_sensitivity: 101 } }])).toEqual([
      '/0/record/input_sensitivity method_parameter_invalid_value',
    ])
  })

  it('sends the start and the result to status_url', async () => {
    const status_url = 'https://app.example/events'
    const { context } = await run([{ record: { status_url, direction: 'both' } }])
    const record = { audio: { format: 'wav', direction: 'both', stereo: false } }
    const event = { to: `POST ${status_url}`, event_type: 'calling.call.record', record }
    expect(eventsOf(context)).toEqual([
      { ...event, state: 'recording' },
      {
        ...event,
        state: 'finished',
        url: 'https://gw.example/r-1',
        recording_id: 'r-1',
        size: 32_044,
        duration: 2,
        start_time: context.time / 1000 - 2,
        end_time: context.time / 1000,
      },
    ])
    const silent = await run([{ record: { status_url } }], { recordings: [{ reason: 'no-input', bytes: 0 }] })
    expect(eventsOf(silent.context).at(-1)).toMatchObject({ state: 'no_input', url: '' })
    const call = new FakeCall()
    call.failing.set('record', new VerbFailed('recording_no_space', 'no space'))
    expect(eventsOf((await run([{ record: { status_url } }], { call })).context).at(-1)).toMatchObject({
      state: 'error',
    })
  })
})

describe('record_call', () => {
  it('continues at once, and is stopped by its control_id or as the last', async () => {
    const steps = [
      { record_call: { control_id: 'a', stereo: true } },
      { record_call: {} },
      'stop_record_call',
      { stop_record_call: { control_id: 'a' } },
    ]
    const { verbs } = await run(steps)
    expect(verbs.map(([name, what]) => (typeof what === 'string' ? `${name} ${what}` : name))).toEqual([
      'startRecording',
      'startRecording',
      'stop r-2',
      'stop r-1',
    ])
    const open = Number.POSITIVE_INFINITY
    expect(verbs.slice(0, 2).map(([, options]) => options)).toMatchObject([
      { tracks: 'stereo', terminators: '', initialSilenceMs: open, endSilenceMs: open },
      { tracks: 'both', format: 'wav' },
    ])
  })

  it('sets its variables', async () => {
    const names = ['record_call_url', 'record_call_result', 'record_control_id', 'stop_record_call_result']
    expect(await after(['record_call', 'stop_record_call'], names)).toEqual([
      'https://gw.example/r-1',
      'success',
      'r-1',
      'success',
    ])
  })

  it('rejects the control_id of an active recording, and the stop of an ended one', async () => {
    const twice = { record_call: { control_id: 'a' } }
    const { verbs, warnings } = await run([twice, twice, { stop_record_call: { control_id: 'b' } }])
    expect(verbs).toHaveLength(1)
    expect(warnings).toEqual([
      '/sections/main/1/record_call method_parameter_invalid_value',
      '/sections/main/2/stop_record_call method_execute_failed',
    ])
  })

  it('may reuse the control_id of an ended recording', async () => {
    const twice = { record_call: { control_id: 'a' } }
    const { warnings } = await run([twice, 'stop_record_call', twice])
    expect(warnings).toEqual([])
  })

  it('passes every parameter to the verb', async () => {
    const record_call = {
      format: 'mp3',
      direction: 'speak',
      beep: true,
      terminators: '*',
      max_length: 9,
      initial_timeout: 3,
      end_silence_timeout: 4,
      input_sensitivity: 0,
    }
    expect((await run([{ record_call }])).verbs[0]?.[1]).toEqual({
      format: 'mp3',
      tracks: 'in',
      beep: true,
      terminators: '*',
      maxMs: 9000,
      initialSilenceMs: 3000,
      endSilenceMs: 4000,
      sensitivity: 0,
    })
  })

  it.each<readonly [method: string, id: { readonly control_id?: unknown }]>([
    ['record', { control_id: expect.stringMatching(/^[0-9a-f-]{36}$/) }],
    ['record_call', {}],
    ['record_call', { control_id: 'a' }],
  ])('of %s is reported once, also if the gateway dies: %j', async (method, id) => {
    const status_url = 'https://app.example/events'
    const named = id.control_id === 'a' ? id : {}
    const { verbs, context } = await run([{ [method]: { status_url, ...named } }], { recordings: [{}] })
    const options = verbs
      .map(([, given]) => given as RecordOptions | undefined)
      .find((given) => given?.tracks)
    const audio = { format: 'wav', direction: expect.any(String), stereo: false }
    const receiver = {
      dialect: 'json',
      url: status_url,
      method: 'POST',
      params: { ...id, record: { audio } },
    }
    expect(options?.statusTarget).toEqual(receiver)
    expect(context.callbacks.map(({ ends }) => ends)).toEqual([undefined, expect.any(String)])
  })

  it('sends its start and its end to status_url', async () => {
    const status_url = 'https://app.example/events'
    const { context } = await run([{ record_call: { control_id: 'a', status_url } }, 'stop_record_call'])
    expect(eventsOf(context)).toMatchObject([
      {
        event_type: 'calling.call.record',
        state: 'recording',
        recording_id: 'r-1',
        url: 'https://gw.example/r-1',
      },
      { event_type: 'calling.call.record', state: 'finished', recording_id: 'r-1', duration: 2 },
    ])
    expect(JSON.parse(context.callbacks[1]?.body?.text ?? '').params.control_id).toBe('a')
  })
})
