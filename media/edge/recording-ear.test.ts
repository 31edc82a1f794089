import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sine } from '../codecs/tone.ts'
import { startRecording } from '../record/recorder.ts'
import { Ears } from '../rtp/ears.ts'
import type { RecordRequest } from '../types.ts'
import { RecordingEar } from './recording-ear.ts'

describe('a recording of what the far end hears', () => {
  let folder: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ear-'))
  })

  afterEach(() => rm(folder, { recursive: true }))

  const begin = async (more: Partial<RecordRequest>) => {
    const request: RecordRequest = { path: join(folder, 'a.wav'), format: 'wav', tracks: 'out', ...more }
    const recorder = await startRecording(request)
    const ears = new Ears()
    ears.add(new RecordingEar(recorder, request, () => {}))
    const word = sine(400, 20)
    const say = (ms: number, said: boolean) => {
      for (let at = 0; at < ms; at += 20) ears.hear(said ? word : undefined, 8000, word, 8000)
    }
    return { recorder, ears, say }
  }

  it.each([{ endSilenceMs: 1000 }, { initialSilenceMs: 1000 }])(
    'goes on while the far end speaks (%j)',
    async (silence) => {
      const { recorder, ears, say } = await begin(silence)
      expect(ears.inputRate).toBe(8000)
      say(2000, true)
      expect(recorder.over).toBe(false)
      recorder.stop()
      await recorder.done
    },
  )

  it('ends when the far end falls silent, whatever it hears', async () => {
    const { recorder, say } = await begin({ endSilenceMs: 1000 })
    say(500, true)
    say(2000, false)
    expect((await recorder.done).end).toEqual({ kind: 'silence' })
  })

  it('needs nothing decoded where it does not end by silence', async () => {
    const { recorder, ears, say } = await begin({ terminators: '#' })
    expect([ears.inputRate, ears.outputRate]).toEqual([0, 8000])
    say(2000, false)
    ears.digit('#')
    expect((await recorder.done).end).toEqual({ kind: 'terminator', digit: '#' })
  })
})
