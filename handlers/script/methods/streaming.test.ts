import { afterAll, describe, expect, it } from 'vitest'
import { FakeCall } from '../../testing/fake-call.ts'
import { eventsOf, faultsOf, TestScripts } from '../../testing/test-scripts.ts'

const scripts = new TestScripts()
afterAll(() => scripts.close())

const receiver = 'https://app.example/events'

describe('stream', () => {
  it('passes every parameter to the verb', async () => {
    const stream = {
      url: 'wss://x.example/a',
      name: 'n',
      track: 'both_tracks',
      codec: 'L16@24000h@40i',
      authorization_bearer_token: 't',
      custom_parameters: { a: '%{call.from_number}' },
    }
    expect((await scripts.run([{ stream }])).verbs).toEqual([
      [
        'startStream',
        {
          url: 'wss://x.example/a',
          name: 'n',
          tracks: 'both',
          codec: 'L16',
          sampleRate: 24_000,
          packetMs: 40,
          bearerToken: 't',
          parameters: { a: '+15550001' },
        },
      ],
    ])
    const plain = await scripts.run([{ stream: { url: 'wss://x.example/a' } }])
    expect(plain.verbs[0]?.[1]).toEqual({ url: 'wss://x.example/a', codec: 'PCMU', tracks: 'inbound' })
  })

  it('continues at once, and is stopped by its control_id or as the last', async () => {
    const stream = { url: 'wss://x.example/a', status_url: receiver }
    const { context, warnings } = await scripts.run([
      { stream: { ...stream, control_id: 'a' } },
      { stream: { ...stream, control_id: 'b' } },
      'stop_stream',
      { stop_stream: { control_id: 'a' } },
      'stop_stream',
    ])
    expect(warnings).toEqual(['/sections/main/4 method_execute_failed'])
    const seen = context.callbacks.map(({ body }) => JSON.parse(body?.text ?? '').params)
    expect(seen.map(({ control_id, state }) => `${control_id} ${state}`)).toEqual([
      'a streaming',
      'b streaming',
      'b finished',
      'a finished',
    ])
    expect(eventsOf(context)[0]).toMatchObject({
      event_type: 'calling.call.stream',
      url: 'wss://x.example/a',
    })
  })

  it('rejects the control_id of an active stream', async () => {
    const stream = { url: 'wss://x.example/a', control_id: 'a' }
    const { warnings, names } = await scripts.run([{ stream }, { stream }])
    expect([warnings, names]).toEqual([
      ['/sections/main/1/stream method_parameter_invalid_value'],
      ['startStream'],
    ])
  })

  it('sends its state to status_url, by GET if requested, with the reason of a failure', async () => {
    const call = new FakeCall()
    call.streamEnds.push({ kind: 'failed', reason: 'refused' })
    const stream = { url: 'wss://x.example/a', status_url: receiver, status_url_method: 'GET' }
    const { context } = await scripts.run([{ stream }, { sleep: 1 }], { call })
    expect(context.callbacks.map(({ method, body }) => [method, body])).toEqual([
      ['GET', undefined],
      ['GET', undefined],
    ])
    const query = new URL(context.callbacks[1]?.url ?? '').searchParams
    expect([query.get('state'), query.get('reason')]).toEqual(['error', 'refused'])
  })

  it('sets its variables', async () => {
    const steps = [{ stream: { url: 'wss://x.example/a' } }, 'stop_stream']
    expect(await scripts.say('%{stream_result} %{stream_control_id} %{stop_stream_result}', steps)).toBe(
      'success s-1 success',
    )
    expect(await scripts.say('%{stop_stream_result}', ['stop_stream'])).toBe('failed')
    const wrong = [{ set: { u: 'https://x.example' } }, { stream: { url: '%{u}' } }]
    expect(await scripts.say('%{stream_result}', wrong)).toBe('failed')
  })

  it('rejects an invalid WebSocket URL, and an unsupported codec', () => {
    expect(faultsOf([{ stream: { url: 'https://x.example' } }])).toEqual([
      '/0/stream/url method_parameter_invalid_value',
    ])
    for (const codec of ['OPUS', 'L16@44100h'])
      expect(faultsOf([{ stream: { url: 'wss://x.example', codec } }])).toEqual([
        '/0/stream/codec method_parameter_invalid_value',
      ])
  })
})

describe('tap', () => {
  it('sends the audio of a direction to an RTP address in a codec', async () => {
    const tap = { uri: 'rtp://192.0.2.9:4000', direction: 'both', codec: 'PCMA', rtp_ptime: 30 }
    expect((await scripts.run([{ tap }])).verbs).toEqual([
      ['startStream', { url: 'rtp://192.0.2.9:4000?codec=PCMA&ptime=30', tracks: 'both' }],
    ])
    expect(
      (await scripts.run([{ tap: { uri: 'rtp://192.0.2.9:4000', direction: 'listen' } }])).verbs[0]?.[1],
    ).toEqual({
      url: 'rtp://192.0.2.9:4000?codec=PCMU&ptime=20',
      tracks: 'outbound',
    })
    const webSocket = { uri: 'wss://x.example/a', codec: 'PCMA', rtp_ptime: '40' }
    expect((await scripts.run([{ tap: webSocket }])).verbs[0]?.[1]).toEqual({
      url: 'wss://x.example/a',
      codec: 'PCMA',
      packetMs: 40,
      tracks: 'inbound',
    })
  })

  it('sets its variables', async () => {
    const names = ['uri', 'result', 'control_id', 'ptime', 'codec', 'rate']
      .map((name) => `%{tap_${name}}`)
      .join(' ')
    const tap = { uri: 'rtp://192.0.2.9:4000', control_id: 't' }
    expect(
      await scripts.say(`${names} %{stop_tap_result}`, [{ tap }, { stop_tap: { control_id: 't' } }]),
    ).toBe('rtp://192.0.2.9:4000 success t 20 PCMU 8000 success')
    expect(await scripts.say('%{stop_tap_result}', ['stop_tap'])).toBe('failed')
    expect(await scripts.say('%{tap_result}', [{ tap: { uri: 'wss://x.example', rtp_ptime: 30 } }])).toBe(
      'failed',
    )
  })

  it('sends its state to status_url', async () => {
    const { context } = await scripts.run([
      { tap: { uri: 'rtp://192.0.2.9:4000', status_url: receiver } },
      'stop_tap',
    ])
    const params = { uri: 'rtp://192.0.2.9:4000', direction: 'speak', codec: 'PCMU', rate: 8000, ptime: 20 }
    const event = { event_type: 'calling.call.tap', device: { type: 'rtp', params } }
    expect(eventsOf(context)).toMatchObject([
      { ...event, state: 'tapping' },
      { ...event, state: 'finished' },
    ])
  })

  it('rejects other addresses and packet lengths', () => {
    expect(faultsOf([{ tap: { uri: 'https://x.example' } }])).toEqual([
      '/0/tap/uri method_parameter_invalid_value',
    ])
    expect(faultsOf([{ tap: { uri: 'rtp://192.0.2.9:4', rtp_ptime: 140 } }])).toEqual([
      '/0/tap/rtp_ptime method_parameter_invalid_value',
    ])
  })
})
