/** Sounds for tests, without real threads. */
import { expect, vi } from 'vitest'
import type { AudioJob } from '../audio-thread.ts'
import { createSounds, type SoundsOptions } from '../sounds.ts'
import type { SpeechJob } from '../speech-thread.ts'
import { FakeThreads, FakeTimers } from './fake-threads.ts'

/** Returns sounds with fake threads, and the calls of their observer. */
export const setUp = (options: Partial<SoundsOptions> = {}) => {
  const threads = new FakeThreads<SpeechJob>()
  const audio = new FakeThreads<AudioJob>()
  const seen: string[] = []
  const sounds = createSounds({
    voice: 'slt',
    timers: new FakeTimers(),
    startSpeech: threads.start,
    startAudio: audio.start,
    observer: {
      onPrepared: (kind, by) => seen.push(`${kind} ${by}`),
      onSpeech: (engine, result) => seen.push(`${engine} ${result}`),
    },
    ...options,
  })
  return { threads, audio, sounds, seen }
}
/** Waits for a number of jobs. Preceding work, such as a digest, takes real time. */
export const jobsOf = (threads: FakeThreads<AudioJob>, count: number) =>
  vi.waitFor(() => expect(threads.jobs.length).toBe(count), { timeout: 20_000, interval: 5 })
/** Lets pending promises proceed. */
export const turn = () => new Promise((resolve) => setImmediate(resolve))
