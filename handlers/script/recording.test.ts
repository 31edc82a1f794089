import { describe, expect, it } from 'vitest'
import { FakeCall } from '../common/fake-call.ts'
import { FakeContext } from '../common/fake-context.ts'
import type { DocumentInvalid } from '../handler.ts'
import type { RecordResult } from '../verbs.ts'
import { VerbFailed } from '../verbs.ts'
import { readScriptDocument } from './document.ts'
import { createScriptHandler } from './handler.ts'

const run = async (steps: unknown[], of: { call?: FakeCall; recordings?: Partial<RecordResult>[] } = {}) => {
  const call = of.call ?? new FakeCall()
  call.recordings.push(...(of.recordings ?? []))
  const context = new FakeContext()
  const text = JSON.stringify({ version: '1.0.0', sections: { main: steps } })
  await createScriptHandler().run(call, { kind: 'inline', text, name: 'test' }, context)
  return { verbs: call.verbs, warnings: context.warnings, names: call.names }
}

/** What variables hold after some steps. */
const after = async (
  steps: unknown[],
  names: readonly string[],
  recordings: Partial<RecordResult>[] = [],
) => {
  const digits = names.map((name) => `%{${name}}`).join('|')
  const { verbs } = await run([...steps, { play: { url: `say:${digits}` } }], { recordings })
  const [, options] = verbs.at(-1) ?? []
  return (options as { sounds: { text: string }[] }).sounds[0]?.text.split('|')
}

const faultsOf = (step: unknown) => {
  try {
    readScriptDocument({ text: JSON.stringify({ sections: { main: [step] } }) })
    return []
  } catch (error) {
    return (error as DocumentInvalid).faults.map(({ path, message }) => `${path} ${message}`)
  }
}

describe('record', () => {
  it('has the defaults of the language', async () => {
    expect((await run(['record'])).verbs).toEqual([
      [
        'record',
        {
          ...{ format: 'wav', tracks: 'in', beep: false, terminators: '#' },
          ...{ initialSilenceMs: 4000, endSilenceMs: 5000 },
        },
      ],
    ])
  })

  it('takes all that the verb has', async () => {
    const record = {
      ...{ format: 'mp3', direction: 'listen', beep: true, terminators: '*9', max_length: 30 },
      ...{ initial_timeout: '2.5', end_silence_timeout: 0 },
    }
    expect((await run([{ record }])).verbs[0]?.[1]).toEqual({
      ...{ format: 'mp3', tracks: 'out', beep: true, terminators: '*9', maxMs: 30_000 },
      ...{ initialSilenceMs: 2500, endSilenceMs: Number.POSITIVE_INFINITY },
    })
    expect((await run([{ record: { terminators: '' } }])).verbs[0]?.[1]).toMatchObject({ terminators: '' })
  })

  it.each([
    ['silence', 48_044, 'https://gw.example/r-1', 'success'],
    ['no-input', 0, '', 'no_input'],
    ['error', 364, 'https://gw.example/r-1', 'failed'],
  ] as const)('tells what came of it: %s', async (reason, bytes, url, word) => {
    const names = ['record_url', 'record_result']
    expect(await after(['record'], names, [{ reason, bytes }])).toEqual([url, word])
  })

  it('ends the script when the caller hangs up', async () => {
    const call = new FakeCall()
    await run(['record', 'answer'], { call, recordings: [{ reason: 'hangup' }] })
    expect(call.names).toEqual(['record'])
  })

  it('that cannot begin is warned of, and the next step has its turn', async () => {
    const call = new FakeCall()
    call.failing.set('record', new VerbFailed('recording_no_space', 'no space'))
    const { names, warnings } = await run(['record', { sleep: 1 }], { call })
    expect(names).toEqual(['record', 'sleep'])
    expect(warnings).toMatchObject([{ code: 'recording_no_space' }])
  })

  it('in stereo has both sides, and contradicts any one', async () => {
    expect((await run([{ record: { stereo: true } }])).verbs[0]?.[1]).toMatchObject({ tracks: 'stereo' })
    const { verbs, warnings } = await run([{ record: { stereo: true, direction: 'speak' } }])
    expect([verbs, warnings[0]?.message]).toEqual([
      [],
      'stereo records both sides, so direction can only be both.',
    ])
  })

  it('refuses what is not there, and says so', () => {
    expect(faultsOf({ record: { format: 'mp4' } })).toEqual([
      '/sections/main/0/record/format format must be wav or mp3.',
    ])
    expect(faultsOf({ record: { direction: 'sideways' } })[0]).toContain('must be speak, listen or both')
    for (const name of ['status_url', 'input_sensitivity'])
      expect(faultsOf({ record: { [name]: 'x' } })).toEqual([
        `/sections/main/0/record/${name} The parameter ${name} is not supported here yet.`,
      ])
    expect(faultsOf({ record: { initial_timeout: -1 } })[0]).toContain('a number from 0 to 600')
    expect(faultsOf({ prompt: { play: 'say:a', initial_timeout: 0 } })[0]).toContain(
      'a number from 0.1 to 600',
    )
  })
})

describe('record_call', () => {
  it('goes on at once, and is found again by its name or as the last', async () => {
    const steps = [
      { record_call: { control_id: 'a', stereo: true } },
      { record_call: {} },
      'stop_record_call',
      { stop_record_call: { control_id: 'a' } },
    ]
    const { verbs } = await run(steps)
    expect(verbs.map(([name, what]) => (typeof what === 'string' ? `${name} ${what}` : name))).toEqual([
      ...['startRecording', 'startRecording', 'stop r-2', 'stop r-1'],
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
      ...['https://gw.example/r-1', 'success', 'r-1', 'success'],
    ])
  })

  it('cannot have the name of one that is under way, and none can be stopped that is not', async () => {
    const twice = { record_call: { control_id: 'a' } }
    const { verbs, warnings } = await run([twice, twice, { stop_record_call: { control_id: 'b' } }])
    expect(verbs).toHaveLength(1)
    expect(warnings.map(({ path, message }) => `${path} ${message}`)).toEqual([
      '/sections/main/1/record_call control_id is that of a recording that is under way.',
      '/sections/main/2/stop_record_call No such recording is under way.',
    ])
  })

  it('can have a name again once it is free', async () => {
    const twice = { record_call: { control_id: 'a' } }
    const { warnings } = await run([twice, 'stop_record_call', twice])
    expect(warnings).toEqual([])
  })
})
