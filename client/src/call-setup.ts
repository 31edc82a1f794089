import type { Environment } from './environment.ts'
import type { Log } from './log.ts'
import type { CallOptions } from './types.ts'
import type { CallSignalling } from './verto.ts'

/** What a {@link Call} is made of. */
export interface CallSetup {
  readonly id: string
  /** The number or address dialled; for an incoming call the literal `room`. */
  readonly to: string
  /** The far side's offer, for an incoming call. */
  readonly offer?: string
  /** The server has the call already: an earlier page of the tab made it. */
  readonly reattaching?: boolean
  readonly nodeId?: string
  readonly options: CallOptions
  readonly signalling: CallSignalling
  readonly environment: Environment
  readonly log: Log
}
