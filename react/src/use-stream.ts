import { useCallback } from 'react'

/**
 * Returns the `ref` of a `<video autoPlay playsInline muted>` that shows a stream: the far side's, or the own
 * camera's.
 * Muted, since the call plays its audio itself. The video does not restart when the component renders again.
 */
export const useStream = (
  stream: MediaStream | null | undefined,
): ((element: HTMLMediaElement | null) => void) =>
  useCallback(
    (element) => {
      if (element) element.srcObject = stream ?? null
    },
    [stream],
  )
