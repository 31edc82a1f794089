/** The thread that decodes audio: gets {@link AudioJob}s, one at a time. */
import type { PcmRate } from '../types.ts'
import { decodeAudio } from './decode.ts'
import { answerJobs } from './thread-jobs.ts'

/** Audio to decode. */
export interface AudioJob {
  readonly bytes: Uint8Array
  readonly rate: PcmRate
  readonly maxSeconds: number
}

answerJobs(({ bytes, rate, maxSeconds }: AudioJob) => decodeAudio(bytes, rate, maxSeconds))
