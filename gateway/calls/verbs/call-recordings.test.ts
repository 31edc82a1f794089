import { describe, expect, it } from 'vitest'
import type { CallControl, CallRecording, RecordOptions, RecordResult } from '../../../handlers/verbs.ts'
import { CallEnded } from '../../../handlers/verbs.ts'
import type { RecordingEnd } from '../../../media/types.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { settle, setUp } from '../testing/calls-fixture.ts'

const result = (end: RecordingEnd) => ({ end, durationMs: 3000, bytes: 48_044, hasFile: true })

/** Starts a call whose script records in the foreground; `outcome` is the result of the verb. */
const recording = async (options: RecordOptions = {}) => {
  const fixture = setUp()
  const made: { outcome?: RecordResult; error?: unknown } = {}
  const { leg, port } = fixture.arrive(async (call) => {
    try {
      made.outcome = await call.record(options)
    } catch (error) {
      made.error = error
    }
    await call.sleep(60_000)
  })
  await settle()
  return { ...fixture, made, leg, port, sound: port.recordings[0] }
}

/** Starts an answered call, and returns its verbs. */
const controlled = async () => {
  const fixture = setUp()
  let control: CallControl | undefined
  const made = fixture.arrive(async (call) => {
    control = call
    await call.answer()
    await call.sleep(3_600_000)
  })
  await settle()
  return { ...fixture, ...made, control: control! }
}

describe('record', () => {
  it('answers, records the caller, and returns the reason of its end', async () => {
    const { made, sound, leg, recordingStore } = await recording({
      beep: true,
      maxMs: 5000,
      terminators: '#',
    })
    expect(leg.isAnswered).toBe(true)
    expect(sound?.request).toMatchObject({
      format: 'wav',
      tracks: 'in',
      beep: true,
      maxMs: 5000,
      sampleRate: 8000,
    })
    expect(recordingStore.orders[0]).toMatchObject({ projectId: 'p', legId: leg.id })
    expect(made.outcome).toBeUndefined()
    sound?.finish(result({ kind: 'terminator', digit: '#' }))
    await settle()
    expect(made.outcome).toEqual({
      id: 'r-1',
      url: 'https://gw.example/r-1',
      durationMs: 3000,
      bytes: 48_044,
      reason: 'terminator',
      terminator: '#',
    })
  })

  it('passes the storage of its file to the store, not to the media', async () => {
    const storage = { url: 'https://store.example/a', method: 'PUT' } as const
    const { recordingStore, sound, control } = await controlled().then(async (fixture) => {
      const started = await fixture.control.startRecording({ storage })
      return { ...fixture, sound: fixture.port.recordings[0], control: started }
    })
    expect(recordingStore.orders[0]?.storage).toEqual(storage)
    expect(sound?.request).not.toHaveProperty('storage')
    sound?.finish(result({ kind: 'silence' }))
    expect(await control.stored).toBe(storage.url)
  })

  it.each(['silence', 'no-input', 'limit', 'stopped'] as const)('ends by %s', async (kind) => {
    const { made, sound } = await recording()
    sound?.finish(result({ kind }))
    await settle()
    expect(made.outcome?.reason).toBe(kind)
  })

  it('ends by a digit of a message, which the port does not detect', async () => {
    const { made, sound, leg } = await recording({ terminators: '#*' })
    leg.digit('1')
    await settle()
    expect(made.outcome).toBeUndefined()
    leg.digit('*')
    await sound?.done
    await settle()
    expect(made.outcome).toMatchObject({ reason: 'terminator', terminator: '*', bytes: 0 })
  })

  it('ends with an error if it cannot be written, and the call goes on', async () => {
    const { made, sound, leg } = await recording()
    sound?.finish(result({ kind: 'error', code: 'ENOSPC', message: 'no space' }))
    await settle()
    expect(made.outcome).toMatchObject({ reason: 'error', bytes: 48_044 })
    expect(leg.isEnded).toBe(false)
  })

  it('resolves when the caller hangs up, with the recording so far', async () => {
    const { made, leg } = await recording()
    leg.ended({ code: 'normal' })
    await settle()
    expect(made.outcome).toMatchObject({ id: 'r-1', reason: 'hangup' })
  })

  it('cannot start after the end of the call', async () => {
    const { control, leg } = await controlled()
    leg.ended({ code: 'normal' })
    await expect(control.record({})).rejects.toThrow(CallEnded)
  })

  it('fails with the code of a failed start, and the call goes on', async () => {
    const { control, recordingStore, leg } = await controlled()
    recordingStore.refusal = new TrunklineError('recording_no_space')
    await expect(control.record({})).rejects.toMatchObject({ name: 'VerbFailed', code: 'recording_no_space' })
    expect(leg.isEnded).toBe(false)
    recordingStore.refusal = undefined
    const begun = await control.startRecording({})
    expect(begun.id).toBe('r-1')
  })
})

describe('a recording in the background', () => {
  it('lets the document go on, and is paused, resumed and stopped', async () => {
    const { control, port } = await controlled()
    const begun = await control.startRecording({ tracks: 'stereo', format: 'mp3' })
    const [sound] = port.recordings
    expect(sound?.request).toMatchObject({ tracks: 'stereo', format: 'mp3' })
    begun.pause('silence')
    begun.resume()
    expect(sound?.requests).toEqual(['pause silence', 'resume'])
    begun.stop()
    expect(await begun.ended).toMatchObject({ reason: 'stopped' })
  })

  it('is one of four at once, at most', async () => {
    const { control } = await controlled()
    const begun: CallRecording[] = []
    for (let i = 0; i < 4; i++) begun.push(await control.startRecording({}))
    await expect(control.startRecording({})).rejects.toMatchObject({ code: 'too_many_recordings' })
    begun[0]?.stop()
    await begun[0]?.ended
    expect((await control.startRecording({})).id).toBe('r-5')
  })

  it('ends with the call', async () => {
    const { control, leg } = await controlled()
    const begun = await control.startRecording({})
    leg.ended({ code: 'normal' })
    expect(await begun.ended).toMatchObject({ reason: 'hangup' })
  })
})
