import type { Recogniser, Recognition } from '../../media/types.ts'

/** Stands where no recogniser is configured: every recognition fails at once, and says why. */
export const noRecogniser: Recogniser = {
  open: (_request, listener): Recognition => {
    let closed = false
    queueMicrotask(() => {
      if (!closed) listener.onFailure(new Error('no recogniser is configured (media.speech.recogniser)'))
    })
    return {
      write: () => {},
      end: async () => {},
      close: () => {
        closed = true
      },
    }
  },
  close: async () => {},
}
