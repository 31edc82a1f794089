import type { Recogniser, Recognition, RecognitionListener } from '../../media/types.ts'

/** Returns a recognition that fails at once with a reason. */
export const failedRecognition = (reason: string, listener: RecognitionListener): Recognition => {
  let closed = false
  queueMicrotask(() => {
    if (!closed) listener.onFailure(new Error(reason))
  })
  return {
    write: () => {},
    end: async () => {},
    close: () => {
      closed = true
    },
  }
}

/** Recogniser without a configuration: every recognition fails. */
export const noRecogniser: Recogniser = {
  open: (_request, listener) =>
    failedRecognition('no recogniser is configured (media.speech.recogniser)', listener),
  close: async () => {},
}
