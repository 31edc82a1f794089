import type { CallScores } from '../scores/call-scores.ts'
import type { FunctionCall } from './call-report.ts'
import type { TranscriptLine } from './call-transcript.ts'

/** End of a call. `limit`: the test ended it after its longest duration. */
export type CallEnd = 'caller' | 'agent' | 'limit'

/** Result of one call. */
export interface TestedCall {
  /** Number from 1, in the order of the calls' begins. */
  readonly number: number
  /** Sentences about steps that could not be performed, and about the call itself. */
  readonly problems: readonly string[]
  /** Undefined if the call was not answered. */
  readonly answered?: AnsweredResult
}

/** Result of an answered call. */
export interface AnsweredResult {
  readonly endedBy: CallEnd
  readonly scores: CallScores
  readonly transcript: readonly TranscriptLine[]
  readonly functions: readonly FunctionCall[]
  /** Whether the report of the agent came. */
  readonly hasReport: boolean
  readonly summary?: string
  /** Packets of the agent that arrived, and that did not. */
  readonly packets: { readonly received: number; readonly lost: number }
  /** Maximum delay of a packet of the caller, in ms: the accuracy of the measurement. */
  readonly lateMs: number
}

/** Sound of a call at 8 kHz. */
export interface CallSound {
  readonly caller: Int16Array
  readonly agent: Int16Array
}
