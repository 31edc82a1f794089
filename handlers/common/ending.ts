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
