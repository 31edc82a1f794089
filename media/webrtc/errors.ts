/** Reason for rejecting a session with a browser. */
export type WebRtcErrorCode = 'bad_sdp' | 'no_common_codec' | 'no_ports' | 'wrong_state' | 'closed'

/**
 * Error of `media/webrtc`. `message` names the field, the expected value and its place; it contains no
 * credential.
 */
export class WebRtcError extends Error {
  readonly code: WebRtcErrorCode

  constructor(code: WebRtcErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'WebRtcError'
    this.code = code
  }
}
