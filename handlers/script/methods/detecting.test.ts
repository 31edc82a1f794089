import { afterAll, describe, expect, it } from 'vitest'
import { FakeCall } from '../../testing/fake-call.ts'
import { eventsOf, faultsOf, TestScripts } from '../../testing/test-scripts.ts'
import type { DetectOptions } from '../../verbs.ts'
import { VerbFailed } from '../../verbs.ts'

const scripts = new TestScripts()
afterAll(() => scripts.close())

const optionsOf = async (parameters: object) => {
  const { verbs } = await scripts.run([{ detect_machine: parameters }])
  const { onFinding, ...options } = (verbs[0] ?? [])[1] as DetectOptions
  return options
}

describe('detect_machine', () => {
  it('has the defaults of the language', async () => {
    expect(await optionsOf({})).toEqual({ machine: {}, fax: 'CED' })
  })

  it('passes every parameter to the verb', async () => {
    const parameters = {
      detectors: 'amd, fax',
      detect_message_end: true,
      initial_timeout: 3,
      end_silence_timeout: '0.5',
      machine_ready_timeout: 2,
      machine_voice_threshold: 1.5,
      machine_words_threshold: 4,
      timeout: 20,
      tone: 'CNG',
    }
    expect(await optionsOf(parameters)).toEqual({
      machine: {
        initialTimeoutMs: 3000,
        endSilenceMs: 500,
        readyTimeoutMs: 2000,
        voiceThresholdMs: 1500,
        wordsThreshold: 4,
        waitForEnd: true,
      },
      fax: 'CNG',
      timeoutMs: 20_000,
    })
    expect(await optionsOf({ detectors: 'amd' })).toEqual({ machine: {} })
    expect(await optionsOf({ detectors: 'fax' })).toEqual({ fax: 'CED' })
    expect(faultsOf([{ detect_machine: { detectors: 'dog' } }])).toEqual([
      '/0/detect_machine/detectors method_parameter_invalid_value',
    ])
  })

  const text = '%{detect_result} %{detect_machine_beep} %{detect_ms}'

  it.each([
    [{ kind: 'machine', beep: true, durationMs: 900 }, 'machine true 900'],
    [{ kind: 'fax', tone: 'CED', durationMs: 300 }, 'fax false 300'],
    [{ kind: 'none', durationMs: 30_000 }, 'unknown false 30000'],
  ] as const)('sets its variables: %j', async (result, said) => {
    const call = new FakeCall()
    call.detections.push(result)
    expect(await scripts.say(text, ['detect_machine'], { call })).toBe(said)
  })

  it('sets its variables when it fails', async () => {
    for (const wait of [true, false]) {
      const call = new FakeCall()
      call.failing.set('detect', new VerbFailed('internal', 'broken'))
      const steps = [{ detect_machine: { wait } }, { sleep: 1 }, { sleep: 1 }]
      expect(await scripts.say('%{detect_result}', steps, { call })).toBe('error')
    }
  })

  it('continues at once without wait, and sets its variables later', async () => {
    const call = new FakeCall()
    const { promise, resolve } = Promise.withResolvers<void>()
    call.during.set('detect', () => promise)
    call.during.set('sleep', resolve)
    const steps = [
      { detect_machine: { wait: false } },
      { play: { url: 'say:%{detect_result}' } },
      { sleep: 1 },
      { sleep: 1 },
      { sleep: 1 },
    ]
    expect(await scripts.say('%{detect_result}', steps, { call })).toBe('human')
    const spoken = call.verbs.filter(([name]) => name === 'play').map(([, options]) => options)
    expect(spoken[0]).toMatchObject({ sounds: [{ text: 'detecting' }] })
  })

  it('sends each finding and the end to status_url', async () => {
    const call = new FakeCall()
    call.during.set('detect', ({ onFinding }: DetectOptions) => {
      onFinding?.({ kind: 'machine' })
      onFinding?.({ kind: 'notReady' })
      onFinding?.({ kind: 'ready', beep: true })
      onFinding?.({ kind: 'fax', tone: 'CED' })
    })
    const status_url = 'https://app.example/events'
    const { context } = await scripts.run([{ detect_machine: { status_url } }], { call })
    expect(eventsOf(context).map(({ event_type, detect }) => [event_type, detect])).toEqual(
      [
        { type: 'machine', params: { event: 'MACHINE' } },
        { type: 'machine', params: { event: 'NOT_READY' } },
        { type: 'machine', params: { event: 'READY', beep: true } },
        { type: 'fax', params: { event: 'CED' } },
        { type: 'machine', params: { event: 'finished' } },
      ].map((detect) => ['calling.call.detect', detect]),
    )
  })
})
