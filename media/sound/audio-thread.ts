/** Thread that decodes audio: receives {@link AudioJob}s, one at a time. */
import type { PcmRate } from '../types.ts'
import { decodeAudio } from './decode.ts'
import { serveJobs } from './serve-jobs.ts'

/** Audio to decode. */
export interface AudioJob {
  readonly bytes: Uint8Array
  readonly rate: PcmRate
  readonly maxSeconds: number
}

serveJobs(({ bytes, rate, maxSeconds }: AudioJob) => decodeAudio(bytes, rate, maxSeconds))
