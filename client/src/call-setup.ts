import type { Environment } from './environment.ts'
import type { Log } from './log.ts'
import type { CallOptions } from './types.ts'
import type { CallSignalling } from './verto.ts'

/** Arguments of a {@link Call}. */
export interface CallSetup {
  readonly id: string
  /** Number or address dialled; the literal `room` for an incoming call. */
  readonly to: string
  /** Offer of the far side, for an incoming call. */
  readonly offer?: string
  /** Whether the server has the call already, made by an earlier page of the tab. */
  readonly reattaching?: boolean
  readonly nodeId?: string
  readonly options: CallOptions
  readonly signalling: CallSignalling
  readonly environment: Environment
  readonly log: Log
}
