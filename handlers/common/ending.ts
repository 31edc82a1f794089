import type { ConnectResult, HangupReason } from '../verbs.ts'
import { CallEnded } from '../verbs.ts'

/** Runs a document; a call that ends in the middle is a normal end. */
export const untilCallEnds = async (signal: AbortSignal, run: () => Promise<void>): Promise<void> => {
  try {
    await run()
  } catch (error) {
    // A fetch that was given up because the call is over is no failure of the document.
    if (!(error instanceof CallEnded) && !signal.aborted) throw error
  }
}

/** How a caller who was never answered is sent away after the last connection attempt came to nothing. */
export const refusalAfter = (result: ConnectResult | undefined): HangupReason => {
  if (result?.kind !== 'failed') return 'hangup'
  if (result.reason === 'busy') return 'busy'
  return result.reason === 'declined' ? 'decline' : 'hangup'
}
