import type {
  MediaPort,
  Recogniser,
  Recognition,
  RecognitionListener,
  RecognitionRequest,
} from '../../../media/types.ts'

/** Recognises the speech from the far end of a port, until the recognition is ended, closed or has failed. */
export const listenTo = (
  port: MediaPort,
  recogniser: Recogniser,
  request: RecognitionRequest,
  listener: RecognitionListener,
): Recognition => {
  const tap = port.tap({ tracks: 'in', sampleRate: request.sampleRate })
  const recognition = recogniser.open(request, {
    onTranscript: (transcript) => listener.onTranscript(transcript),
    onFailure: (error) => {
      tap.close()
      listener.onFailure(error)
    },
  })
  tap.onFrame(({ samples }) => recognition.write(samples))
  tap.onClosed(() => recognition.close())
  return {
    write: (samples) => recognition.write(samples),
    end: () => {
      tap.close()
      return recognition.end()
    },
    close: () => {
      tap.close()
      recognition.close()
    },
  }
}
