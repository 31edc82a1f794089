import { CallEnded } from '../verbs.ts'

/** Runs a document. Resolves also if the call ends first. */
export const untilCallEnds = async (signal: AbortSignal, run: () => Promise<void>): Promise<void> => {
  try {
    await run()
  } catch (error) {
    // A fetch that was aborted at the end of the call is not a failure of the document.
    if (!(error instanceof CallEnded) && !signal.aborted) throw error
  }
}
