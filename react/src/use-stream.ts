import { useCallback } from 'react'

/**
 * The `ref` of a `<video autoPlay playsInline muted>` that is to show a stream: that of the far side, or one's own camera. Muted, as the sound of
 * a call plays already. The picture does not begin anew when the component renders again.
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
