/** For tests: sounds without real threads. */
import { expect, vi } from 'vitest'
import type { AudioJob } from './audio-thread.ts'
import { FakeThreads, FakeTimers } from './fake-thread.ts'
import { createSounds, type SoundsOptions } from './sounds.ts'
import type { SpeechJob } from './speech-thread.ts'

/** Sounds whose threads answer when they are told to, and what their observer saw. */
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
/** Waits for so many jobs: what comes first, such as a digest, is done elsewhere and takes as long as the machine does. */
export const jobsOf = (threads: FakeThreads<AudioJob>, count: number) =>
  vi.waitFor(() => expect(threads.jobs.length).toBe(count), { timeout: 20_000, interval: 5 })
/** Lets the promises that are under way go on. */
export const turn = () => new Promise((resolve) => setImmediate(resolve))
