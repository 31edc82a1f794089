import { afterAll, describe, expect, it } from 'vitest'
import { FakeCall } from '../../testing/fake-call.ts'
import { FakeContext } from '../../testing/fake-context.ts'
import { eventsOf, faultsOf, TestScripts } from '../../testing/test-scripts.ts'
import { VerbFailed } from '../../verbs.ts'

const scripts = new TestScripts()
afterAll(() => scripts.close())

const receiver = 'https://app.example/events'

describe('play', () => {
  it('plays every kind of sound with volume, voice and early media', async () => {
    const files = ['https://u:p@x.example/a.wav', 'file:de/welcome.mp3']
    const urls = ['say: Hello ', 'silence:1.5', 'ring:de', 'ring:3:us-old', ...files]
    const play = { urls, volume: -3, say_voice: 'slt', say_language: 'en', auto_answer: false }
    expect((await scripts.run([{ play }])).verbs).toEqual([
      [
        'play',
        {
          sounds: [
            { kind: 'speech', text: 'Hello', voice: 'slt', language: 'en' },
            { kind: 'silence', ms: 1500 },
            { kind: 'ringtone', country: 'de' },
            { kind: 'ringtone', country: 'us-old', ms: 3000 },
            { kind: 'audio', url: 'https://u:p@x.example/a.wav' },
            { kind: 'audio', url: 'file:de/welcome.mp3' },
          ],
          volumeDb: -3,
          autoAnswer: false,
        },
      ],
    ])
  })

  it('speaks with the voice of the variables if the step names none', async () => {
    const set = { set: { say_voice: 'rms', say_language: 'de', say_gender: 'male' } }
    const { verbs } = await scripts.run([
      set,
      { play: { url: 'say:a', say_language: 'en', say_gender: 'female' } },
      { prompt: { play: 'say:b' } },
    ])
    expect(verbs.map(([name, options]) => [name, options])).toMatchObject([
      ['play', { sounds: [{ voice: 'rms', language: 'en', gender: 'female' }] }],
      ['collect', { prompt: { sounds: [{ voice: 'rms', language: 'de', gender: 'male' }] } }],
    ])
  })

  it('takes a volume and a sound from variables', async () => {
    const set = { set: { db: 7, text: 'there' } }
    const { verbs } = await scripts.run([set, { play: { url: 'say:Hello %{text}', volume: '%{db}' } }])
    expect(verbs[0]?.[1]).toMatchObject({ sounds: [{ text: 'Hello there' }], volumeDb: 7 })
    const { names, warnings } = await scripts.run([
      { set: { db: 77 } },
      { play: { url: 'say:a', volume: '%{db}' } },
    ])
    expect([names, warnings]).toEqual([[], ['/sections/main/1/play method_parameter_invalid_value']])
  })

  it('sends playing, finished or error to status_url', async () => {
    const steps = [{ play: { url: 'say:a', status_url: receiver } }]
    const { context } = await scripts.run(steps)
    expect(eventsOf(context)).toEqual([
      { to: `POST ${receiver}`, event_type: 'calling.call.play', state: 'playing' },
      { to: `POST ${receiver}`, event_type: 'calling.call.play', state: 'finished' },
    ])
    const call = new FakeCall()
    call.failing.set('play', new VerbFailed('sound_unreachable', 'no'))
    const failed = await scripts.run(steps, { call })
    expect(eventsOf(failed.context).map(({ state }) => state)).toEqual(['playing', 'error'])
    const ended = new FakeCall()
    ended.endsDuring = 'play'
    expect(eventsOf((await scripts.run(steps, { call: ended })).context).at(-1)).toMatchObject({
      state: 'finished',
    })
  })

  it('sends events in the envelope of the language', async () => {
    const { context } = await scripts.run([{ play: { url: 'say:a', status_url: receiver } }])
    const [first, last] = context.callbacks.map(({ body }) => JSON.parse(body?.text ?? ''))
    expect(first).toEqual({
      event_type: 'calling.call.play',
      event_channel: expect.stringMatching(/^swml:[0-9a-f-]{36}$/),
      timestamp: context.time / 1000,
      project_id: 'demo',
      space_id: 's-1',
      params: {
        call_id: 'c-1',
        node_id: 'n-1',
        segment_id: 'c-1',
        state: 'playing',
        control_id: expect.any(String),
      },
    })
    expect(last.params.control_id).toBe(first.params.control_id)
    expect(last.event_channel).toBe(first.event_channel)
    expect(context.callbacks[0]).toMatchObject({ kind: 'play', body: { contentType: 'application/json' } })
  })

  it('sets play_result', async () => {
    expect(await scripts.say('%{play_result}', [{ play: { url: 'say:a' } }])).toBe('success')
    const call = new FakeCall()
    call.failing.set('play', new VerbFailed('sound_unreachable', 'no'))
    const { context } = await scripts.run(
      [{ play: { url: 'say:a' } }, { user_event: { event: { r: '%{play_result}' } } }],
      {
        call,
      },
    )
    expect(call.verbs.at(-1)).toEqual(['sendUserEvent', { r: 'failed' }])
    expect(context.warnings).toMatchObject([{ code: 'sound_unreachable', path: '/sections/main/0/play' }])
  })

  it('rejects an invalid sound, and url together with urls', () => {
    expect(faultsOf([{ play: { url: 'ftp://x.example' } }])).toEqual([
      '/0/play/url method_parameter_invalid_value',
    ])
    expect(faultsOf([{ play: { url: 'say:a', urls: ['say:b'] } }])).toEqual([
      '/0/play method_parameter_conflict',
    ])
    expect(faultsOf([{ play: { url: 'say:a', status_url: 'ftp://x' } }])).toEqual([
      '/0/play/status_url method_parameter_invalid_value',
    ])
  })
})

describe('prompt', () => {
  it('has the defaults of the language', async () => {
    expect((await scripts.run([{ prompt: { play: 'say:Pin' } }])).verbs[0]).toEqual([
      'collect',
      { prompt: { sounds: [{ kind: 'speech', text: 'Pin' }] }, maxDigits: 1 },
    ])
  })

  it('passes every option for digits', async () => {
    const prompt = {
      play: ['say:A', 'silence:1'],
      volume: 3,
      say_voice: 'slt',
      say_language: 'en',
      max_digits: 4,
      say_gender: 'male',
      terminators: '#*',
      digit_timeout: 2.5,
      initial_timeout: '10',
    }
    const sounds = [
      { kind: 'speech', text: 'A', voice: 'slt', language: 'en', gender: 'male' },
      { kind: 'silence', ms: 1000 },
    ]
    expect((await scripts.run([{ prompt }])).verbs[0]).toEqual([
      'collect',
      {
        prompt: { sounds, volumeDb: 3 },
        maxDigits: 4,
        terminators: '#*',
        initialTimeoutMs: 10_000,
        interDigitTimeoutMs: 2500,
      },
    ])
  })

  it('fails if variables yield no keys or no number', async () => {
    const set = { set: { keys: '#x', long: '700' } }
    for (const more of [
      { terminators: '%{keys}' },
      { digit_timeout: '%{long}' },
      { speech_timeout: '%{keys}' },
    ]) {
      const { names, warnings } = await scripts.run([set, { prompt: { play: 'say:a', ...more } }])
      expect([names, warnings]).toEqual([[], ['/sections/main/1/prompt method_parameter_invalid_value']])
    }
  })

  it('collects speech alone, or digits and speech, by its parameters', async () => {
    const prompt = {
      play: 'say:Well?',
      speech_language: 'de',
      speech_hints: ['ja', '%{vars.none}'],
      speech_end_timeout: 1.5,
      speech_timeout: '20',
    }
    const speech = { language: 'de', hints: ['ja'], endSilenceMs: 1500, maxSpeechMs: 20_000 }
    expect((await scripts.run([{ prompt }])).verbs[0]?.[1]).toMatchObject({ speech, digits: false })
    const both = await scripts.run([{ prompt: { play: 'say:Well?', speech_timeout: 9, max_digits: 2 } }])
    expect(both.verbs[0]?.[1]).toMatchObject({ speech: { maxSpeechMs: 9000 }, digits: true, maxDigits: 2 })
    const engine = await scripts.run([{ prompt: { play: 'say:Well?', speech_engine: 'Google' } }])
    expect(engine.verbs[0]?.[1]).toMatchObject({ speech: {}, digits: false })
  })

  const results = '%{prompt_result}|%{prompt_value}|%{prompt_digit_terminator}|%{prompt_speech_confidence}'

  it.each([
    [{ reason: 'terminator', digits: '42', terminator: '#' }, 'match_digits|42|#|'],
    [
      { reason: 'speech', digits: '', speech: { text: 'sales', confidence: 0.75 } },
      'match_speech|sales||0.75',
    ],
    [{ reason: 'speech', digits: '', speech: { text: '' } }, 'no_match|||'],
    [{ reason: 'no-input', digits: '' }, 'no_input|||'],
    [{ reason: 'error', digits: '' }, 'failed|||'],
  ] as const)('sets its variables: %j', async (result, text) => {
    const call = new FakeCall()
    call.collects.push(result)
    expect(await scripts.say(results, [{ prompt: { play: 'say:a' } }], { call })).toBe(text)
  })

  it('sets its variables when it fails', async () => {
    const prompt = { prompt: { play: 'say:a' } }
    const failing = new FakeCall()
    failing.failing.set('collect', new VerbFailed('internal', 'broken'))
    expect(await scripts.say(results, [prompt], { call: failing })).toBe('failed|||')
  })

  it('sends the collected input to status_url', async () => {
    const call = new FakeCall()
    call.during.set('collect', ({ onInput }: { onInput: (by: 'digits') => void }) => onInput('digits'))
    call.collects.push({ reason: 'complete', digits: '7' })
    call.collects.push({ reason: 'speech', digits: '', speech: { text: 'yes', confidence: 1 } })
    call.collects.push({ reason: 'no-input', digits: '' })
    const prompt = { prompt: { play: 'say:a', status_url: receiver } }
    const context = new FakeContext()
    await scripts.run([prompt, prompt, prompt], { call, context })
    const final = { final: true, state: 'finished' }
    const begun = { result: { type: 'start_of_input' }, final: false }
    expect(eventsOf(context).map(({ to, event_type, ...event }) => event)).toEqual([
      begun,
      { result: { type: 'digit', params: { digits: '7', terminator: '' } }, ...final },
      begun,
      { result: { type: 'speech', params: { text: 'yes', confidence: 1 } }, ...final },
      begun,
      { result: { type: 'no_input' }, ...final },
    ])
    expect(eventsOf(context)[0]).toMatchObject({ to: `POST ${receiver}`, event_type: 'calling.call.collect' })
  })

  it('sends a failure to status_url', async () => {
    const call = new FakeCall()
    call.failing.set('collect', new VerbFailed('internal', 'broken'))
    const { context } = await scripts.run([{ prompt: { play: 'say:a', status_url: receiver } }], { call })
    expect(eventsOf(context)).toMatchObject([{ result: { type: 'error' }, final: true }])
  })
})
