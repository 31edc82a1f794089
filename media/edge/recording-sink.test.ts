import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sine } from '../codecs/tone.ts'
import { startRecording } from '../record/recorder.ts'
import { AudioSinks } from '../rtp/audio-sinks.ts'
import type { RecordRequest } from '../types.ts'
import { RecordingSink } from './recording-sink.ts'

describe('a recording of the audio for the far end', () => {
  let folder: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sink-'))
  })

  afterEach(() => rm(folder, { recursive: true }))

  const begin = async (more: Partial<RecordRequest>) => {
    const request: RecordRequest = { path: join(folder, 'a.wav'), format: 'wav', tracks: 'out', ...more }
    const recorder = await startRecording(request)
    const sinks = new AudioSinks()
    sinks.add(new RecordingSink(recorder, request, () => {}))
    const word = sine(400, 20)
    const say = (ms: number, said: boolean) => {
      for (let at = 0; at < ms; at += 20) sinks.write(said ? word : undefined, 8000, word, 8000)
    }
    return { recorder, sinks, say }
  }

  it.each([{ endSilenceMs: 1000 }, { initialSilenceMs: 1000 }])(
    'goes on while the far end speaks (%j)',
    async (silence) => {
      const { recorder, sinks, say } = await begin(silence)
      expect(sinks.inputRate).toBe(8000)
      say(2000, true)
      expect(recorder.hasEnded).toBe(false)
      recorder.stop()
      await recorder.done
    },
  )

  it('ends when the far end falls silent, independent of the recorded audio', async () => {
    const { recorder, say } = await begin({ endSilenceMs: 1000 })
    say(500, true)
    say(2000, false)
    expect((await recorder.done).end).toEqual({ kind: 'silence' })
  })

  it('needs no decoding unless it ends by silence', async () => {
    const { recorder, sinks, say } = await begin({ terminators: '#' })
    expect([sinks.inputRate, sinks.outputRate]).toEqual([0, 8000])
    say(2000, false)
    sinks.digit('#')
    expect((await recorder.done).end).toEqual({ kind: 'terminator', digit: '#' })
  })
})
